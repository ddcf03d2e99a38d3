"""The README's code runs as it stands there, and its links lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)


def test_there_are_examples():
    assert len(EXAMPLES) == 3


@pytest.mark.parametrize("example", EXAMPLES, ids=["gymnasium", "pettingzoo", "engine"])
def test_an_example_runs(example, capsys):
    shorter = example.replace("range(1000)", "range(3)").replace("1024", "64")
    assert shorter != example or "agent_iter" in example
    exec(shorter, {})


def test_links_lead_somewhere():
    links = re.findall(r"\]\(([^)]+)\)", TEXT)
    assert len(links) > 10
    local = [link.split("#")[0] for link in links if "://" not in link]
    assert [link for link in local if not (ROOT / link).exists()] == []
