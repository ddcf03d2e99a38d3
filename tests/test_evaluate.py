"""The referee's command line: figures, files, bad input and interruptions."""

import csv
import json
import math
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from agents import evaluation, report
from agents.cli_evaluate import main
from agents.evaluation import Comparison, Plan
from agents.players import BLOCK, play, player
from agents.tally import Tally
from ginenv.record import read

PNG = b"\x89PNG\r\n\x1a\n"


def run(capsys, *arguments):
    """Exit status, standard output and standard error of an evaluation."""
    try:
        status = main([str(argument) for argument in arguments])
    except SystemExit as stopped:
        status = stopped.code
    out, err = capsys.readouterr()
    return status, out, err


# Figures


def test_a_table_of_one_player_against_some(capsys, tmp_path):
    files = {kind: tmp_path / f"found.{kind}" for kind in ("json", "csv", "png", "jsonl")}
    status, out, _ = run(
        capsys,
        *("greedy", "--opponent", "random", "normal", "--hands", 40, "--games", 4, "--seed", 3),
        *("--json", files["json"], "--csv", files["csv"]),
        *("--plot", files["png"], "--record", files["jsonl"]),
    )
    assert status == 0
    content = json.loads(files["json"].read_text())
    assert content["complete"]
    assert content["plan"]["seed"] == 3
    assert content["plan"]["rules"]["knock_limit"] == 10
    assert [row["opponent"] for row in content["comparisons"]] == ["random", "normal"]

    tally = play(player("greedy"), player("random"), 20, seed=3)
    games = play(player("greedy"), player("random"), 2, seed=3, unit="match")
    first = content["comparisons"][0]
    assert first["hands"] == 40
    assert first["games"] == 4
    assert first["points_a_hand"]["mean"] == tally.points_a_hand.mean
    assert first["points_a_hand"]["half_width"] == pytest.approx(tally.points_a_hand.half_width)
    assert first["games_won"]["low"] == games.games_won.low
    assert first["player_rates"]["knocks"] == tally.rates(0)["knocks"]
    assert first["opponent_rates"]["gins"] == tally.rates(1)["gins"]

    # The printed figures are those of the file.
    for row in content["comparisons"]:
        (line,) = re.findall(rf"^{row['opponent']} .*±.*$", out, re.MULTILINE)
        assert report.points(row["points_a_hand"]) in line
        assert report.share(row["games_won"]) in line
        assert f"{row['player_rates']['turns']:.1f}" in out

    with files["csv"].open(newline="") as file:
        lines = list(csv.DictReader(file))
    for line, row in zip(lines, content["comparisons"], strict=True):
        assert float(line["points_a_hand.mean"]) == row["points_a_hand"]["mean"]
        assert float(line["player_rates.voids"]) == row["player_rates"]["voids"]

    assert files["png"].read_bytes().startswith(PNG)
    records = list(read(files["jsonl"]))
    assert len(records) == sum(
        row["hands"] + round(row["games"] * row["hands_a_game"]) for row in content["comparisons"]
    )
    assert {name for record in records for name in record.players} == {"greedy", "random", "normal"}


def test_a_round_robin_has_ratings_and_both_directions(capsys, tmp_path):
    status, out, _ = run(
        capsys,
        *("--round-robin", "random", "greedy", "hard", "--hands", 20, "--games", 4),
        *("--json", tmp_path / "a.json", "--csv", tmp_path / "a.csv", "--plot", tmp_path / "a.png"),
    )
    assert status == 0
    content = json.loads((tmp_path / "a.json").read_text())
    ratings = {row["player"]: row for row in content["ratings"]}
    assert ratings["greedy"]["rating"] == 1000
    assert ratings["random"]["low"] <= ratings["random"]["rating"] < 1000
    for row in content["ratings"]:
        assert report.rating(row) in out
    found = {(row["player"], row["opponent"]): row for row in content["comparisons"]}
    assert len(found) == 6
    for (a, b), row in found.items():
        other = found[b, a]
        assert row["points_a_hand"]["mean"] == -other["points_a_hand"]["mean"]
        assert row["games_won"]["mean"] == pytest.approx(1 - other["games_won"]["mean"])
        assert row["player_rates"] == other["opponent_rates"]
        assert report.points(row["points_a_hand"]) in out
    assert (tmp_path / "a.png").read_bytes().startswith(PNG)
    with (tmp_path / "a.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 6


def test_by_default_all_four_bots_are_the_opponents(capsys):
    status, out, _ = run(capsys, "random", "--hands", 4, "--games", 0)
    assert status == 0
    for name in ("easy", "normal", "hard", "crazy"):
        assert name in out


def test_rules_of_other_tables(capsys, tmp_path):
    arguments = ("greedy", "--opponent", "greedy", "--hands", 40, "--games", 0)
    file = tmp_path / "a.json"
    assert run(capsys, *arguments, "--rules", "straight", "--json", file)[0] == 0
    content = json.loads(file.read_text())
    assert content["plan"]["rules_name"] == "straight"
    assert content["plan"]["rules"]["knock_limit"] == 0
    assert content["comparisons"][0]["player_rates"]["knocks"] == 0
    assert content["comparisons"][0]["player_rates"]["knock_deadwood"] is None
    assert content["comparisons"][0]["games_won"] is None


def test_numbers_may_be_written_short(capsys, tmp_path):
    file = tmp_path / "a.json"
    arguments = ("greedy", "--opponent", "random", "--hands", "2e1", "--games", "0")
    assert run(capsys, *arguments, "--json", file)[0] == 0
    assert json.loads(file.read_text())["comparisons"][0]["hands"] == 20


def test_until_plays_until_the_interval_is_narrow_enough():
    seen = []
    comparison = Comparison("greedy", "random")
    policies = {name: player(name) for name in ("greedy", "random")}
    plan = Plan(num_hands=20 * BLOCK, num_games=0, until=0.9)
    evaluation.measure(comparison, policies, plan, lambda *args: seen.append(args))
    hands = comparison.hands
    assert hands.points_a_hand.half_width <= 0.9
    assert hands.num_hands < 20 * BLOCK
    assert hands.num_hands % (2 * BLOCK) == 0
    assert all(done <= expected for _, done, expected in seen)
    whole = play(policies["greedy"], policies["random"], hands.num_pairs, seed=0)
    assert whole.points_a_hand == hands.points_a_hand


def test_many_blocks_become_few_parts_and_nothing_is_lost():
    comparison, points = Comparison("a", "b"), []
    for number in range(300):
        block = Tally.empty("hand", 1 + number % 3)
        block.points[:] = number
        points.append(block.points)
        comparison.add("hand", block)
        assert len(comparison.parts["hand"]) < 64
    assert np.array_equal(comparison.hands.points, np.concatenate(points))
    assert comparison.games is None


def test_until_says_when_it_was_not_reached(capsys):
    arguments = ("greedy", "--opponent", "random", "--games", 0)
    status, out, _ = run(capsys, *arguments, "--until", 0.001, "--hands", 4 * BLOCK)
    assert status == 0
    assert f"--until 0.001 was not reached in {4 * BLOCK:,} hands" in out


class Chooser:
    """A policy with a mode, as learned ones have."""

    def __init__(self, sample=None):
        self.sample = sample

    def __call__(self, view, rng):
        assert self.sample is not None
        Chooser.asked.add(self.sample)
        return player("greedy")(view, rng)

    def sampling(self, sample):
        return Chooser(sample)


@pytest.mark.parametrize(("option", "sample"), [((), False), (["--argmax"], False),
                                                (["--sample"], True)])  # fmt: skip
def test_learned_policies_play_argmax_unless_asked_to_sample(capsys, monkeypatch, option, sample):
    Chooser.asked = set()
    monkeypatch.setattr("agents.cli_evaluate.player", lambda name: Chooser())
    arguments = ("one", "--opponent", "two", "--hands", 4, "--games", 0)
    assert run(capsys, *arguments, *option)[0] == 0
    assert Chooser.asked == {sample}


# Text


def test_figures_as_text():
    assert report.points({"mean": 1.234, "half_width": 0.456}) == "+1.23 ±0.46"
    assert report.points({"mean": -1.0, "half_width": None}) == "-1.00 ±?"
    assert report.points(None) == report.share(None) == report.short_share(None) == "–"
    assert report.share({"mean": 0.5, "low": 0.25, "high": 0.755}) == "50.0 % (25.0 – 75.5)"
    assert report.rating({"rating": 1000.0, "low": 1000.0, "high": 1000.0}) == "1000"
    assert report.short("runs/long/path/to/policy.pt") == "to/policy.pt"
    assert len(report.short("cmd:python " + "x" * 100)) == 28


# Bad input: one line, exit status 2, and nothing is played

BAD = {
    "crzy": "unknown player 'crzy', did you mean 'crazy'?",
    "greedy --opponent esy": "did you mean 'easy'?",
    "cmd:nonesuch": "no program 'nonesuch'",
    "greedy --hands 21": "--hands must be even",
    "greedy --games 7": "--games must be even",
    "greedy --hands -2": "whole number",
    "greedy --hands many": "'many' is no whole number",
    "greedy --hands 1.5": "whole number",
    "greedy --hands 1e999": "whole number",
    "greedy --hands 0 --games 0": "nothing to play",
    "greedy --seed -1": "whole number",
    "greedy --until 0": "number above 0",
    "greedy --until nan": "number above 0",
    "greedy --until 1 --hands 100": "needs room",
    "greedy --rules oklahomo": "did you mean 'oklahoma'?",
    "greedy --rules x": "Known: standard",
    "greedy --argmax --sample": "not allowed with",
    "greedy --frobnicate": "unrecognized arguments: --frobnicate",
    "greedy --json /nonesuch/a.json": "--json: cannot write '/nonesuch/a.json'",
    "greedy --csv /": "--csv: cannot write '/'",
    "greedy --plot a.docx": ".png",
    "greedy --plot /nonesuch/a.png": "--plot: cannot write",
    "greedy --record /nonesuch/a": "--record: cannot write",
    "greedy --time-limit 0": "number above 0",
    "": "name a POLICY",
    "--round-robin greedy": "two players or more",
    "--round-robin greedy hard greedy": "names 'greedy' twice",
    "easy --round-robin greedy hard": "takes all the players itself",
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input_is_one_clear_line(capsys, monkeypatch, line):
    monkeypatch.setattr(evaluation, "measure", lambda *args: pytest.fail("played all the same"))
    status, out, err = run(capsys, *line.split())
    assert status == 2
    assert out == ""
    assert BAD[line] in err
    assert len(err.splitlines()) == 1
    assert "error: " in err


def test_checking_that_a_file_can_be_written_leaves_nothing_behind(capsys, tmp_path):
    file = tmp_path / "a.json"
    assert run(capsys, "greedy", "--json", file, "--hands", 3)[0] == 2
    assert run(capsys, "greedy", "--json", file, "--opponent", "esy")[0] == 2
    assert not file.exists()
    file.write_text("kept")
    assert run(capsys, "greedy", "--json", file, "--opponent", "esy")[0] == 2
    assert file.read_text() == "kept"


def test_an_outside_program_that_fails_is_one_line_and_keeps_what_was_measured(capsys, tmp_path):
    bot = tmp_path / "bot.py"
    bot.write_text("print('nonsense')")
    status, out, err = run(
        capsys,
        *("greedy", "--hands", 4, "--games", 0),
        *("--opponent", "random", f"cmd:{sys.executable} {bot}", "easy"),
        *("--json", tmp_path / "a.json"),
    )
    assert status == 1
    assert "no JSON" in err
    assert len(err.splitlines()) == 1
    assert "random" in out
    content = json.loads((tmp_path / "a.json").read_text())
    assert not content["complete"]
    assert [row["opponent"] for row in content["comparisons"]] == ["random"]


# Interruption


def test_an_interruption_prints_what_has_been_measured(capsys, monkeypatch, tmp_path):
    played = evaluation.play_blocks

    def interrupted(*args, **options):
        if options["unit"] == "match":
            raise KeyboardInterrupt
        yield from played(*args, **options)

    monkeypatch.setattr(evaluation, "play_blocks", interrupted)
    file = tmp_path / "a.json"
    arguments = ("--round-robin", "greedy", "hard", "easy", "--hands", 20)
    status, out, err = run(capsys, *arguments, "--json", file)
    assert status == 130
    assert "interrupted" in err
    assert "±" in out
    content = json.loads(file.read_text())
    assert not content["complete"]
    assert content["ratings"] == []
    assert {row["games"] for row in content["comparisons"]} == {0}


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_ends_without_a_traceback():
    # A shell's background job ignores SIGINT, and so would a program that the tests start from one.
    script = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from agents import cli_evaluate, evaluation
played = evaluation.play_blocks
def announced(*args, **options):
    print("playing", flush=True)
    yield from played(*args, **options)
evaluation.play_blocks = announced
raise SystemExit(cli_evaluate.main(["hard", "--hands", "1000000"]))
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout.readline() == "playing\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in err


def test_nothing_measured_is_nothing_printed(capsys, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(evaluation, "measure", interrupted)
    status, out, err = run(capsys, "greedy", "--hands", 20)
    assert (status, out) == (130, "")
    assert len(err.splitlines()) == 1


def test_one_pair_has_no_interval(capsys, tmp_path):
    file = tmp_path / "a.json"
    arguments = ("greedy", "--opponent", "random", "--hands", 2, "--games", 0, "--json", file)
    status, out, _ = run(capsys, *arguments)
    assert status == 0
    assert "±?" in out
    estimate = json.loads(file.read_text())["comparisons"][0]["points_a_hand"]
    assert estimate["low"] is None
    assert math.isfinite(estimate["mean"])


def test_a_file_that_is_no_checkpoint_is_named_as_one(tmp_path, capsys):
    pytest.importorskip("torch")  # which reads checkpoints
    file = tmp_path / "notes.txt"
    file.write_text("no policy")
    with pytest.raises(SystemExit, match="2"):
        main([str(file)])
    assert "notes.txt is no checkpoint" in capsys.readouterr().err
