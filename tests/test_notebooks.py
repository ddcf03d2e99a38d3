"""The notebooks: no outputs, no logic of their own, and they run."""

import ast
import json
import os
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
NAMES = ["01_quick_start", "02_ladder", "03_training", "04_inside_a_policy"]

# Instead of the values in the notebook's first code cell.
SMALL = {
    "01_quick_start": {"num_games": 64, "num_steps": 40},
    "02_ladder": {"bots": ["easy", "greedy", "crazy"], "num_hands": 100, "num_games": 10},
    "03_training": {
        "total_decisions": 40_000,
        "num_games": 128,
        "eval_hands": 40,
        "final_hands": 40,
        "threads": 1,
    },
    "04_inside_a_policy": {
        "num_hands": 100,
        "decisions_without_a_policy": 20_000,
        "num_games": 128,
        "threads": 1,
    },
}


def read(name):
    return json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))


def code(notebook):
    return ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]


def execute(name, folder):
    """Run a notebook in a folder with small numbers; the text that its cells print."""
    nbformat = pytest.importorskip("nbformat", reason="needs the `notebooks` extra")
    nbclient = pytest.importorskip("nbclient", reason="needs the `notebooks` extra")
    pytest.importorskip("ipykernel", reason="needs the `notebooks` extra")
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    (place,) = (
        i for i, c in enumerate(notebook.cells) if "parameters" in c.metadata.get("tags", [])
    )
    lines = [f"{key} = {value!r}" for key, value in SMALL[name].items()]
    notebook.cells.insert(place + 1, nbformat.v4.new_code_cell("\n".join(lines)))
    nbclient.NotebookClient(
        notebook, timeout=500, resources={"metadata": {"path": str(folder)}}
    ).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not any(output.get("name") == "stderr" for output in outputs), outputs
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    return "".join(output.get("text", "") for output in outputs), pictures


@pytest.fixture(autouse=True)
def _one_thread_and_this_checkout(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    path = [str(NOTEBOOKS.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))


def test_these_are_all_the_notebooks():
    assert sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_stripped(name):
    notebook = read(name)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None
    assert notebook["cells"][0]["cell_type"] == "markdown"
    assert "".join(notebook["cells"][0]["source"]).startswith("# ")


@pytest.mark.parametrize("name", NAMES)
def test_parameters_come_first_and_are_those_of_the_tests(name):
    notebook = read(name)
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert cells[0]["metadata"]["tags"] == ["parameters"]
    given = [target.id for line in ast.parse(code(notebook)[0]).body for target in line.targets]
    assert {*SMALL[name]} <= {*given}


@pytest.mark.parametrize("name", NAMES)
def test_no_logic_of_their_own(name):
    for source in code(read(name)):
        plain = "\n".join(line for line in source.splitlines() if not line.startswith("%"))
        for node in ast.walk(ast.parse(plain)):
            assert not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.While, ast.Try)), source


def test_the_quick_start_runs(tmp_path):
    text, _ = execute("01_quick_start", tmp_path)
    assert "points a hand against easy" in text
    assert "decisions a second" in text


@pytest.mark.slow
def test_the_ladder_runs(tmp_path):
    text, pictures = execute("02_ladder", tmp_path)
    assert len(pictures) == 2
    assert "lay their hands down" in text or "void" in text


@pytest.mark.slow
def test_training_and_looking_inside_run_one_after_the_other(tmp_path):
    text, pictures = execute("03_training", tmp_path)
    assert "losses/entropy" in text
    assert len(pictures) == 1
    text, pictures = execute("04_inside_a_policy", tmp_path)
    assert "points a hand" in text
    assert len(pictures) == 3
    assert (tmp_path / "runs/report.html").stat().st_size > 50_000


@pytest.mark.slow
def test_looking_inside_without_a_policy_trains_one(tmp_path):
    execute("04_inside_a_policy", tmp_path)
    assert (tmp_path / "runs/notebook/latest.pt").exists()
