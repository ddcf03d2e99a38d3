"""What a release holds, what it brings along, and that it works where there is no checkout."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from fnmatch import fnmatch
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
NOT_IN_THE_SOURCE_DISTRIBUTION = {".gitignore", ".ci/run"}
TOOLS = {
    *("build", "coverage", "hypothesis", "mkdocs", "mkdocs-material", "mypy", "nbclient"),
    *("pytest", "pytest-cov", "pytest-timeout", "pytest-xdist", "ruff", "scipy"),
}


def data_files(package):
    found = (ROOT / package.replace(".", "/")).rglob("*")
    return [f for f in found if f.is_file() and f.suffix not in (".py", ".pyc")]


@pytest.mark.parametrize("package", ["ginenv", "agents"])
def test_every_data_file_is_declared(package):
    tomllib = pytest.importorskip("tomllib", reason="Python 3.11 reads TOML")
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = {
        f"{name.replace('.', '/')}/{pattern}"
        for name, some in declared["tool"]["setuptools"]["package-data"].items()
        for pattern in some
    }
    files = [file.relative_to(ROOT).as_posix() for file in data_files(package)]
    assert f"{package}/py.typed" in files
    assert [f for f in files if not any(fnmatch(f, pattern) for pattern in patterns)] == []


def test_the_version_is_the_same_wherever_it_stands():
    found = {
        re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)[1]
        for file, pattern in (
            ("pyproject.toml", r'^version = "(.*)"'),
            ("ginenv/__init__.py", r'^__version__ = "(.*)"'),
            ("CITATION.cff", r"^version: (.*)"),
        )
    }
    assert len(found) == 1


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def brought_along(name):
    """The distributions that installing one brings, as far as they are installed here."""
    found, waiting = set(), [Requirement(name)]
    while waiting:
        wanted = waiting.pop()
        if canonical(wanted.name) in found:
            continue
        found.add(canonical(wanted.name))
        try:
            needs = map(Requirement, requires(wanted.name) or [])
        except PackageNotFoundError:  # needed only elsewhere, such as on another system
            continue
        extras = wanted.extras or {""}
        waiting += [
            need
            for need in needs
            if need.marker is None or any(need.marker.evaluate({"extra": e}) for e in extras)
        ]
    return found - {canonical(name)}


def test_installing_it_brings_no_development_tools():
    brought = brought_along("ginenv")
    assert {"numpy", "gymnasium", "pettingzoo"} <= brought
    assert brought & TOOLS == set()


# The release itself: `make dist` builds it, `pytest -m slow tests/test_packaging.py` checks it


def run(*command, cwd):
    """A command's output; its error output is in the message if it fails."""
    # What is found must be what was installed, and not this checkout.
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout


def tracked():
    """The files that git knows, as paths from the root."""
    if not (ROOT / ".git").exists():
        pytest.skip("needs a git checkout to compare with")
    return set(run("git", "ls-files", cwd=ROOT).splitlines())


def contents(path):
    """A wheel's files and their bytes, but for its own list of them."""
    with zipfile.ZipFile(path) as wheel:
        return {n: wheel.read(n) for n in wheel.namelist() if not n.endswith("/RECORD")}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The files that a release is made of, and the folder where it was built from copies."""
    files, folder = tracked(), tmp_path_factory.mktemp("release")
    for file in files:
        (folder / "tree" / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, folder / "tree" / file)
    run(sys.executable, "-m", "build", "--outdir", folder / "dist", folder / "tree", cwd=folder)
    run(
        *(sys.executable, "-m", "build", "--wheel", "--outdir", folder / "direct"),
        folder / "tree",
        cwd=folder,
    )
    return files, folder


def only(files):
    (file,) = files
    return file


@pytest.mark.slow
def test_the_source_distribution_holds_what_is_tracked_and_nothing_else(built):
    sources, folder = built
    with tarfile.open(only((folder / "dist").glob("*.tar.gz"))) as archive:
        files = {m.name.partition("/")[2] for m in archive.getmembers() if m.isfile()}
    made = {f for f in files if f in ("PKG-INFO", "setup.cfg") or f.startswith("ginenv.egg-info/")}
    assert files - made == sources - NOT_IN_THE_SOURCE_DISTRIBUTION


@pytest.mark.slow
def test_the_wheel_holds_the_packages_and_is_the_same_from_either_source(built):
    sources, folder = built
    files = contents(only((folder / "dist").glob("*.whl")))
    ours = {f for f in sources if f.startswith(("ginenv/", "agents/"))}
    about = {f for f in files if f.partition("/")[0].endswith(".dist-info")}
    assert set(files) - about == ours
    assert any(f.endswith("/licenses/LICENSE") for f in about)
    assert contents(only((folder / "direct").glob("*.whl"))) == files


STEPS = """
import sys
import ginenv, gymnasium, numpy as np
from ginenv import gin_rummy_v0
assert "site-packages" in ginenv.__file__, ginenv.__file__
env = gymnasium.make("ginenv:GinRummy-v0")
_, info = env.reset(seed=1)
env.step(int(np.flatnonzero(info["action_mask"])[0]))
env = gin_rummy_v0.env()
env.reset(seed=1)
env.step(105)
print("stepped")
"""


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_installed_in_a_clean_environment_it_works_outside_the_checkout(built, tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    scripts = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    wheel = only((built[1] / "dist").glob("*.whl"))
    pip = (scripts / "python", "-m", "pip")
    run(*pip, "install", "--quiet", "-c", ROOT / "constraints.txt", wheel, cwd=tmp_path)
    listed = run(*pip, "list", "--format=freeze", cwd=tmp_path).split()
    installed = {canonical(line.partition("==")[0]) for line in listed}
    assert "ginenv" in installed
    assert installed & TOOLS == set()

    assert run(scripts / "python", "-c", STEPS, cwd=tmp_path) == "stepped\n"
    few = ("--opponent", "easy", "--hands", "20", "--games", "2")
    assert "easy" in run(scripts / "gin-evaluate", "greedy", *few, cwd=tmp_path)
    assert "easy" in run(scripts / "gin-evaluate", "pretrained", *few, cwd=tmp_path)
    assert "total_decisions" in run(scripts / "gin-train", "--print_config", cwd=tmp_path)
    assert "--level" in run(scripts / "gin-play", "--help", cwd=tmp_path)
