"""The command that measures what the bots' thresholds are worth."""

import dataclasses

import pytest

from agents import tune
from agents.scripted import STYLES


def test_the_tuning_command_prints_its_tables(capsys):
    assert tune.main(["odds", "knocks", "--hands", "200", "--opponents", "hard"]) == 0
    printed = capsys.readouterr().out
    assert "one next to a card that he took" in printed
    assert "points gained by a knock over waiting" in printed


def test_the_tuning_command_changes_each_threshold(capsys, monkeypatch):
    monkeypatch.setattr(tune, "VARIATIONS", {"keep": (20.0,), "hold": (1, 2)})
    assert tune.main(["styles", "--hands", "20", "--opponents", "greedy"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines[-4:]] == [
        "keep = 40.0",
        "keep = 20.0",
        "hold = 1",
        "hold = 2",
    ]
    assert set(tune.VARIATIONS) <= {field.name for field in dataclasses.fields(STYLES["crazy"])}


def test_the_tuning_command_refuses_nonsense(capsys):
    for arguments in (["ods"], ["--hands", "0"], ["--bot", "expert"]):
        with pytest.raises(SystemExit) as stopped:
            tune.main(arguments)
        assert stopped.value.code == 2
    assert "ods" in capsys.readouterr().err
