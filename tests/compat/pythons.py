"""Run the tests on every supported Python, with the oldest and the newest NumPy, each on its own.

    python tests/compat/pythons.py                       # python3.10 … python3.13 on the PATH
    python tests/compat/pythons.py 3.12 ~/my/python3.13  # these
    python tests/compat/pythons.py --no-torch            # all tests that need no torch
    python tests/compat/pythons.py --keep build/pythons -- tests/test_melds.py   # for pytest

Each run has a fresh environment in a temporary folder (or under --keep FOLDER, to be used again):
once with NumPy 1.26, where it exists for that Python, once with the versions of `constraints.txt`.
Without torch, `tests/conftest.py` leaves out the files that need it; torch is a large download.
The one who runs it needs ginenv installed, whose requirements say what to install.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PYTHONS = ["3.10", "3.11", "3.12", "3.13"]
OLDEST_NUMPY, LAST_PYTHON_WITH_IT = "numpy==1.26.*", (3, 12)


def find(wanted):
    """The interpreter for a version or a path, as (path, (3, minor)); an error if there is none."""
    path = shutil.which(f"python{wanted}" if re.fullmatch(r"3\.\d+", wanted) else wanted)
    if path is not None:
        ask = [path, "-c", "import sys; print(*sys.version_info[:2])"]
        told = subprocess.run(ask, capture_output=True, text=True, check=False)
        if told.returncode == 0:
            return path, tuple(map(int, told.stdout.split()))
    sys.exit(f"there is no Python {wanted}: name its path instead, such as ~/python3.12/bin/python")


def needed(torch):
    """What the tests need, as pyproject.toml has it: the package's own needs and the extra dev."""
    everything = map(Requirement, requires("ginenv"))
    chosen = [r for r in everything if r.marker is None or r.marker.evaluate({"extra": "dev"})]
    return [f"{r.name}{r.specifier}" for r in chosen if torch or r.name != "torch"]


def install(base, folder, numpy, torch):
    """Make an environment, unless it is there; its interpreter."""
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not (folder / "complete").exists():
        subprocess.run([base, "-m", "venv", "--clear", folder], check=True)
        # The constraints pin NumPy, so the oldest one comes without them.
        versions = ["-c", "constraints.txt"] if numpy is None else [numpy]
        pip = [python, "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, *versions, *needed(torch)], cwd=ROOT, check=True)
        subprocess.run([*pip, "--no-deps", "-e", "."], cwd=ROOT, check=True)
        (folder / "complete").touch()
    return python


def check(python, words):
    """Run the tests; pytest's closing line and whether they pass."""
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    run = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    line = ""
    for line in run.stdout:
        print(line, end="", flush=True)
    return line.strip(), run.wait() == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pythons", nargs="*", default=PYTHONS, metavar="PYTHON")
    parser.add_argument("--no-torch", action="store_true", help="only the tests that need no torch")
    parser.add_argument("--keep", type=Path, help="folder of environments to use again")
    ours, words = sys.argv[1:], []
    if "--" in ours:
        ours, words = ours[: ours.index("--")], ours[ours.index("--") + 1 :]
    args = parser.parse_args(ours)
    pythons = [find(wanted) for wanted in args.pythons]
    results = []
    with tempfile.TemporaryDirectory() as temporary:
        for path, version in pythons:
            oldest = [OLDEST_NUMPY] if version <= LAST_PYTHON_WITH_IT else []
            for numpy in [*oldest, None]:
                name = "Python {}.{}, ".format(*version) + (numpy or "constraints.txt")
                print(f"== {name}", flush=True)
                folder = (args.keep or Path(temporary)) / re.sub(r"\W+", "-", name)
                python = install(path, folder.resolve(), numpy, not args.no_torch)
                results.append((name, *check(python, words)))
    for name, closing_line, passed in results:
        print(f"{name}: {'passed' if passed else 'FAILED'}: {closing_line}")
    return not all(passed for _, _, passed in results)


if __name__ == "__main__":
    sys.exit(main())
