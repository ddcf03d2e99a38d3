"""Run the environments' tests under every supported PettingZoo, each in an environment of its own.

    python tests/compat/pettingzoo_versions.py                 # all
    python tests/compat/pettingzoo_versions.py 1.25.0          # one

Each environment is a fresh one in a temporary folder (or under --keep FOLDER, to be used again),
with what the tests need and nothing else: no torch. The oldest two also have the oldest Gymnasium
that ginenv supports.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
GYMNASIUM = {"1.24.4": "==1.1.1", "1.25.0": "==1.1.1", "1.26.1": ">=1.2", "1.27.0": ">=1.2"}
NEEDED = ["numpy>=1.26", "pytest", "pytest-timeout", "hypothesis", "pillow>=10.1", "moviepy>=2"]
TESTS = ["pettingzoo", "v4_compat", "lockstep", "gymnasium", "render"]


def check(version, folder):
    """Make the environment, unless it is there, and run the tests in it; whether they pass."""
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        wanted = [f"pettingzoo=={version}", f"gymnasium{GYMNASIUM.get(version, '')}", *NEEDED]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted], check=True)
    files = [f"tests/test_{name}.py" for name in TESTS]
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files]
    return subprocess.run(command, cwd=ROOT).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("versions", nargs="*", default=list(GYMNASIUM))
    parser.add_argument("--keep", type=Path, help="folder of environments to use again")
    args = parser.parse_args()
    passed = {}
    with tempfile.TemporaryDirectory() as temporary:
        for version in args.versions:
            print(f"== PettingZoo {version}", flush=True)
            folder = (args.keep or Path(temporary)) / version
            passed[version] = check(version, folder.resolve())
    for version, fine in passed.items():
        print(f"PettingZoo {version}: {'passed' if fine else 'FAILED'}")
    return not all(passed.values())


if __name__ == "__main__":
    sys.exit(main())
