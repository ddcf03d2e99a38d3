"""The command that shows recorded hands."""

import io
import json

import pytest

from ginenv import cards, replay
from ginenv.record import Record
from ginenv.rules import KNOCK
from tests.test_record import LINES, changed


@pytest.fixture
def hands(tmp_path):
    """A file of recorded hands."""
    path = tmp_path / "hands.jsonl"
    path.write_text("\n".join(LINES[:12]) + "\n")
    return path


def show(*arguments):
    return replay.main([str(argument) for argument in arguments])


def test_every_hand_is_shown(hands, capsys):
    assert show(hands) == 0
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if line.startswith("hand ")] == [
        f"hand {number}" for number in range(1, 13)
    ]


def test_one_hand_is_chosen(hands, capsys):
    assert show(hands, "--hand", 5) == 0
    out = capsys.readouterr().out
    assert out.startswith("hand 5\n") and "hand 6" not in out


def test_a_hand_that_is_not_there(hands, capsys):
    assert show(hands, "--hand", 13) == 2
    assert "has 12 hands, there is no hand 13" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        show(hands, "--hand", 0)


def test_the_list_has_a_line_a_hand(hands, capsys):
    assert show(hands, "--list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 12
    assert lines[0].startswith("hand 1: player_0 against player_1: ")


def test_a_broken_file_shows_its_good_hands_and_says_where_it_breaks(hands, capsys):
    with hands.open("a") as file:
        file.write(LINES[12][:100])
    assert show(hands, "--list") == 1
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 12
    assert f"{hands}, line 13: no JSON, or truncated" in err


def test_a_file_that_is_not_there(tmp_path, capsys):
    assert show(tmp_path / "nowhere") == 2
    assert "cannot read" in capsys.readouterr().err


def test_standard_input_is_read(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO(LINES[0]))
    assert show("-", "--list") == 0
    assert capsys.readouterr().out.startswith("hand 1: ")


@pytest.mark.parametrize("seat", [0, 1])
def test_a_seat_sees_no_hidden_card_before_the_hands_are_laid_down(seat):
    """All that is told of the other hand is what lay open: taken or thrown cards."""
    for line in LINES[:20]:
        record = Record.parse(line)
        told = list(replay.tell(record, seat))
        end = next(n for n, text in enumerate(told) if text.startswith(("both lay", "the hand is")))
        start = 0 if seat != record.dealer else 1
        own = {record.deck[place] for place in range(start, 20, 2)}
        other = {record.deck[place] for place in range(1 - start, 20, 2)}
        assert own.isdisjoint(other)
        open_cards = open_by_play(record)
        words = " ".join(told[:end]).replace("[", " ").replace("]", " ").replace(",", " ").split()
        for card in other - open_cards:
            assert cards.name(card) not in words


def open_by_play(record):
    """The cards that lay on the pile at any time."""
    return {record.deck[20], *(action for action in record.actions if action < KNOCK)}


def test_a_players_name_is_used_where_it_tells_the_seats_apart():
    told = "\n".join(replay.tell(Record.parse(changed(LINES[0], players=["ann", "bob"]))))
    assert "player_0 is ann" in told and "ann " in told
    told = "\n".join(replay.tell(Record.parse(changed(LINES[0], players=["ann", "ann"]))))
    assert "player_0 is ann" in told and "turn 1: player_" in told


def test_scores_are_told():
    line = next(line for line in LINES if json.loads(line)["result"] == "KNOCK")
    record = Record.parse(line)
    after = [b + max(p, 0) for b, p in zip(record.scores, record.points, strict=True)]
    last = list(replay.tell(record))[-1]
    assert last == f"the score is player_0 {after[0]}, player_1 {after[1]}"


def test_names_cannot_command_the_terminal(tmp_path, capsys):
    """A stranger's record may hold anything in a name, and in a field that there is not."""
    path = tmp_path / "hands.jsonl"
    named = changed(LINES[0], players=["\x1b[2Jbob", "\ud800\u202e"])
    path.write_text(named + "\n" + changed(LINES[0], **{"\x1b[31m": 1}) + "\n")
    assert show(path) == 1
    out, err = capsys.readouterr()
    assert "\\x1b[2Jbob passes" in out or "\\x1b[2Jbob takes" in out
    assert "\\xd800\\x202e" in out
    assert "unknown: \\x1b[31m" in err
    assert all(line.isprintable() for line in (out + err).splitlines())
