"""What a wheel holds: every file of the packages, not only the Python ones."""

from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
tomllib = pytest.importorskip("tomllib", reason="Python 3.11 reads TOML")


def data_files(package):
    found = (ROOT / package.replace(".", "/")).rglob("*")
    return [f for f in found if f.is_file() and f.suffix not in (".py", ".pyc")]


@pytest.mark.parametrize("package", ["ginenv", "agents"])
def test_every_data_file_is_declared(package):
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = {
        f"{name.replace('.', '/')}/{pattern}"
        for name, some in declared["tool"]["setuptools"]["package-data"].items()
        for pattern in some
    }
    files = [file.relative_to(ROOT).as_posix() for file in data_files(package)]
    assert f"{package}/py.typed" in files
    assert [f for f in files if not any(fnmatch(f, pattern) for pattern in patterns)] == []
