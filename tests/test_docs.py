"""The documentation says what the code does."""

import dataclasses
import importlib.util
import re
from pathlib import Path

import pytest
import yaml

import agents  # noqa: F401 (registers the bots that the pages name)
from ginenv import opponents
from ginenv.rules import NUM_ACTIONS, PRESETS, Phase, Rules, action_name, parse_action
from ginenv.view import OBSERVATIONS, observation_size

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
OURS = ["index", "rules", "observations", "environments", "migrating"]


def page(name):
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def table(name, first_heading):
    """The rows of the table whose first column has this heading."""
    lines = page(name).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {first_heading} |"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            return rows
        rows.append([cell.strip().replace("`", "") for cell in line.strip("|").split("|")])
    return rows


def test_observation_table():
    planes, counts = OBSERVATIONS["full"]
    assert [row[:2] for row in table("observations", "from")] == [
        [str(52 * place), name] for place, name in enumerate(planes)
    ]
    for row in table("observations", "from"):
        assert row[3].split(", ") == [o for o in ("full", "cards") if row[1] in OBSERVATIONS[o][0]]
    rows = table("observations", "from (full)")
    assert [row[2] for row in rows] == list(counts)
    for place, row in enumerate(rows):
        assert int(row[0]) == 52 * len(planes) + place
        kept = row[2] in OBSERVATIONS["cards"][1]
        assert row[1] == (str(52 * len(OBSERVATIONS["cards"][0]) + place) if kept else "")
    for observation in OBSERVATIONS:
        assert str(observation_size(observation)) in page("observations")


def test_action_table():
    named = {}
    for numbers, name, _ in table("observations", "action"):
        first, last = (numbers.split("..") * 2)[:2]
        names = (name.split(" … ") * 2)[:2]
        assert [action_name(int(n)) for n in (first, last)] == names
        assert [parse_action(n) for n in names] == [int(first), int(last)]
        named |= dict.fromkeys(range(int(first), int(last) + 1))
    assert list(named) == list(range(NUM_ACTIONS))
    phases = [row[0] for row in table("observations", "phase")]
    assert phases == [f"{phase.value} {phase.name}" for phase in Phase]


def test_rules_tables():
    rows = {row[0]: row[1] for row in table("rules", "field")}
    assert rows == {field.name: str(field.default) for field in dataclasses.fields(Rules)}
    presets = {row[0]: row[1] for row in table("rules", "preset")}
    assert presets == {
        name: ", ".join(f"{key}={value}" for key, value in changes.items()) or "nothing"
        for name, changes in PRESETS.items()
    }


def test_pages_name_the_players_there_are():
    listed = page("environments").split("**The opponent** is a name (")[1].split(")")[0]
    assert set(re.findall(r"`(\w+)`", listed)) <= set(opponents.names())


@pytest.mark.parametrize("name", OURS)
def test_python_on_the_page_runs(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", page(name), flags=re.DOTALL)
    for block in blocks:
        if "pettingzoo.make" in block and not hasattr(pytest.importorskip("pettingzoo"), "make"):
            continue
        exec(compile(block, f"docs/{name}.md", "exec"), {})


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_links_between_files_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


def test_navigation_has_every_page():
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    assert sorted(next(iter(entry.values())) for entry in nav) == [path.name for path in PAGES]


@pytest.mark.skipif(not importlib.util.find_spec("mkdocs"), reason="needs the extra docs")
@pytest.mark.slow
def test_documentation_builds(tmp_path):
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path)))
    assert (tmp_path / "index.html").exists()
