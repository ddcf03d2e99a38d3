"""What imports what: the engine stands alone, and nothing heavy comes before it is asked for."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = {"PIL", "agents", "matplotlib", "pettingzoo", "rich", "tensorboard", "textual", "torch"}


def brought_by(statement):
    """The top-level modules that a fresh interpreter has after a statement."""
    script = f"import sys; {statement}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("statement", "of_them"),
    [
        ("import ginenv", set()),
        ("import ginenv.single, ginenv.vector", set()),
        ("import ginenv.gin_rummy_v0", {"pettingzoo"}),
        ("import agents", {"agents"}),
    ],
)
def test_importing_stays_light(statement, of_them):
    assert brought_by(statement) & HEAVY == of_them


def test_playing_and_evaluating_need_no_torch():
    assert "torch" not in brought_by("import agents.cli_evaluate, agents.external, agents.play")


def imported(path):
    """The top-level modules that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def test_no_file_of_ginenv_imports_torch_or_agents_even_late():
    files = sorted((ROOT / "ginenv").rglob("*.py"))
    assert len(files) > 20
    wrong = {file.name: {"torch", "agents"} & set(imported(file)) for file in files}
    assert {name: found for name, found in wrong.items() if found} == {}
