"""Settings for the whole test run."""

import pytest
from hypothesis import settings

# A first example compiles caches and builds tables; a busy machine is no reason to fail.
settings.register_profile("ginenv", deadline=None)
settings.load_profile("ginenv")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Where torch is not installed, the files that cannot be imported without it are skipped.

    What ginenv itself imports is held by `test_imports.py`, so that nothing is skipped unnoticed.
    """
    report = yield
    failure = report.call.excinfo
    if failure is not None and getattr(failure.value.__cause__, "name", None) == "torch":
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 1, "Skipped: needs torch")
    return report


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """An empty directory, in which the test works."""
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """The directory of a training run that went from its beginning to its end: only to be read."""
    from tests.train_command import EVALUATED, start  # brings torch

    path = tmp_path_factory.mktemp("finished") / "run"
    assert start(path, **EVALUATED) == 0
    return path
