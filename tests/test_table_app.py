"""The table in the terminal, played as a person would: keys, clicks, and what the screen says."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("textual")
pytest.importorskip("platformdirs")

from agents import play
from agents.table.levels import level
from agents.table.match import PERSON, Match, Terms
from agents.table.screens import (
    Confirm,
    CutScreen,
    HandOverScreen,
    MatchOverScreen,
    Menu,
    TooSmall,
)
from agents.table.seat import TableScreen
from agents.table.start import StartScreen
from agents.table.storage import Storage
from agents.table.widgets import HandView
from ginenv import cards
from ginenv.rules import DECLARE_BIG_GIN, DRAW_STOCK, KNOCK, PASS, Phase
from ginenv.view import resample_hidden
from tests.hands import stacked_deck
from tests.person import sitting

CRAZY, EASY, NORMAL = level("crazy"), level("easy"), level("normal")


def saved_at(directory, person, opponent, upcard, stock="", at="normal"):
    """A match saved in its first hand, dealt by the opponent with the cards given as text."""
    deck = stacked_deck(person, opponent, upcard, stock)
    match = Match._dealt(Terms(at, seed=1), 1, deck)
    Storage(directory).save_match(match)
    return match


def test_a_full_match_to_100_through_the_interface(tmp_path):
    async def story():
        async with sitting(tmp_path, at="easy") as person:
            assert "no match yet" in person.text()
            await person.sit_down()
            while not isinstance(person.screen, MatchOverScreen):
                await person.play_as(CRAZY.policy)
            match, text = person.match, person.text()
            assert max(match.totals) >= 100
            assert f"{match.totals[0]} to {match.totals[1]}" in text
            assert f"{len(match.finished)} hands played" in text
            assert "matches won" in text
            await person.press("l")
            await person.settle(lambda: isinstance(person.screen, StartScreen))
            assert "Your record against Easy" in person.text()
            assert "of 1" in person.text()
        assert [r.match for r in Storage(tmp_path).results(EASY)] == [match.name]
        assert Storage(tmp_path).load_match(EASY) is None

    asyncio.run(story())


def test_the_mouse_alone_plays_a_turn(tmp_path):
    person_hand = "As 2s 3s 9h 9d Kc Qd 4h 7c 8c"
    saved_at(tmp_path, person_hand, "Ah 2h 3h 5s 6s 7s Ts Jd Kd Qh", "4c", stock="6c Td")

    async def story():
        async with sitting(tmp_path) as person:
            await person.pilot.click("#continue")
            await person.my_turn()
            await person.pilot.click("#pass_up")
            await person.my_turn()
            await person.pilot.click("#stock")
            await person.settle(lambda: person.match.seen.phase[0] == Phase.DISCARD)
            assert "You draw 6♣" in person.text()
            king = cards.card("Kc")
            await person.click_card(king)
            assert person.screen.chosen == king
            assert "Throw K♣" in person.text()
            await person.click_card(king)
            assert "You throw K♣" in person.match.log
            await person.my_turn()
            await person.pilot.click("#pile")
            assert person.match.log[-1].startswith("You take")

    asyncio.run(story())


def test_cards_are_moved_by_hand_and_by_mouse(tmp_path):
    saved_at(
        tmp_path, "As 2s 3s 9h 9d Kc Qd 4h 7c 8c", "Ah 2h 3h 5s 6s 7s Ts Jd Kd Qh", "4c", "6c Td"
    )

    async def story():
        async with sitting(tmp_path) as person:
            await person.press("c")
            await person.my_turn()
            table, before = person.screen, list(person.screen.arrangement.order)
            await person.press("right", "shift+right", "shift+right")
            assert table.arrangement.order == [before[1], before[2], before[0], *before[3:]]
            await person.press("s")
            assert table.arrangement.order == before
            last = person.column(before[-1])
            await person.pilot.mouse_down(HandView, offset=(person.column(before[3]), 2))
            await person.pilot.mouse_up(HandView, offset=(last + 3, 2))
            assert table.arrangement.order == [*before[:3], *before[4:], before[3]]
            assert table.arrangement.by_hand

    asyncio.run(story())


def test_knock_appears_and_another_card_can_be_thrown(tmp_path):
    """With K♣ drawn to deadwood 9 the best throw is the king; the 6 may be thrown instead of it
    only where ten points are left at most."""
    saved_at(
        tmp_path, "As 2s 3s 4h 5h 6h 9c 9d 9h 6d", "Ah 2h 3c 5s 6s 7s Ts Jd Kd Qh", "8c", "3d Kc"
    )

    async def story():
        async with sitting(tmp_path) as person:
            await person.press("c")
            await person.my_turn()
            assert "KNOCK" not in person.text()
            await person.act(PASS)
            await person.act(DRAW_STOCK)
            assert "KNOCK (k) throws 6♦" in person.text()
            await person.choose(cards.card("3d"))
            assert "KNOCK (k) throws 3♦" in person.text()
            await person.choose(cards.card("9c"))
            assert "KNOCK (k) throws 6♦" in person.text(), "with the nine gone it does not allow it"
            await person.choose(cards.card("3d"))
            await person.press("k")
            await person.my_turn()
            assert isinstance(person.screen, HandOverScreen)
            text = person.text()
            assert "deadwood 6" in text
            assert "points to" in text
            assert person.match._actions[-1] == KNOCK + cards.card("3d")

    asyncio.run(story())


@pytest.mark.parametrize(
    ("drawn", "key", "says"),
    [("Kc", "g", "You go gin"), ("4s", "b", "You have big gin")],
)
def test_gin_and_big_gin(tmp_path, drawn, key, says):
    saved_at(
        tmp_path, "As 2s 3s 4h 5h 6h 9c 9d 9h 9s", "Ah 2h 3c 5s 6s 7s Ts Jd Kd Qh", "8c", drawn
    )

    async def story():
        async with sitting(tmp_path) as person:
            await person.press("c")
            await person.my_turn()
            await person.act(PASS)
            await person.act(DRAW_STOCK)
            assert "GIN (g)" in person.text()
            assert ("BIG GIN" in person.text()) == (drawn == "4s")
            await person.press(key)
            await person.my_turn()
            assert says in person.text()
            bonus = 25 if key == "g" else 31
            assert f"+ {bonus}" in person.text()

    asyncio.run(story())


def test_on_easy_the_best_discard_glows(tmp_path):
    hands = ("As 2s 3s 9h 9d Kc 2d 4h 7c 8c", "Ah 2h 3h 5s 6s 7s Ts Jd Kd Qh", "4c", "6c Td")
    for at, glows in (("easy", True), ("normal", False)):
        saved_at(tmp_path, *hands, at=at)

        async def story(at=at, glows=glows):
            async with sitting(tmp_path, at=at) as person:
                await person.press("c")
                await person.my_turn()
                assert person.screen.query_one(HandView).glowing is None
                await person.act(PASS)
                if person.match.seen.phase[0] != Phase.DISCARD:
                    await person.act(DRAW_STOCK)
                glowing = person.screen.query_one(HandView).glowing
                assert (glowing == cards.card("Kc")) == glows
                assert (glowing is None) != glows

        asyncio.run(story())


def test_the_coach_speaks_only_when_asked(tmp_path):
    async def story():
        async with sitting(tmp_path, coach=level("hard")) as person:
            await person.sit_down()
            assert "Hard would" not in person.text()
            await person.press("h")
            await person.settle(lambda: "Hard would" in person.text())
            text = person.text()
            for word in ("prob", "points", "outs", "unseen", "holds", "threw"):
                assert word in text
            await person.press("h")
            await person.settle(lambda: "Hard would" not in person.text())

    asyncio.run(story())


def test_the_screen_shows_no_hidden_card(tmp_path):
    """With all hidden cards dealt again, not one character of the screen changes."""

    async def story():
        async with sitting(tmp_path, size=(120, 36)) as person:
            await person.sit_down()
            for _ in range(6):
                await person.play_as(NORMAL.policy)
            await person.my_turn()
            if isinstance(person.screen, HandOverScreen):
                await person.press("n")
                await person.my_turn()
            before = person.text()
            table = person.screen
            table.match.state = resample_hidden(table.match.state, np.random.default_rng(1), PERSON)
            table.refresh_table()
            await person.settle()
            assert person.text() == before

    asyncio.run(story())


def test_the_menu_pauses_and_the_sound_is_kept(tmp_path):
    async def story():
        async with sitting(tmp_path) as person:
            await person.sit_down()
            log = list(person.match.log)
            table = person.screen
            await person.press("m")
            assert isinstance(person.screen, Menu)
            table.advance()
            await person.settle()
            assert table.match.log == log, "nothing moves in a pause"
            await person.press("s")
            await person.settle(lambda: "Sound is off" in person.text())
            assert not Storage(tmp_path).settings().sound
            await person.press("escape")
            await person.my_turn()
            await person.press("m", "n")
            assert isinstance(person.screen, Confirm)
            await person.press("n")
            assert isinstance(person.screen, TableScreen)
            await person.press("m", "n", "y")
            await person.settle(lambda: isinstance(person.screen, CutScreen))
        assert [r.outcome for r in Storage(tmp_path).results()] == ["given up"]

    asyncio.run(story())


def test_a_terminal_too_small_says_so_and_goes_on_when_larger(tmp_path):
    async def story():
        async with sitting(tmp_path) as person:
            await person.sit_down()
            await person.pilot.resize_terminal(60, 20)
            await person.settle(lambda: isinstance(person.screen, TooSmall))
            assert "needs 80 x 24" in person.text()
            assert "60 x 20" in person.text()
            await person.pilot.resize_terminal(100, 30)
            await person.settle(lambda: isinstance(person.screen, TableScreen))
            await person.my_turn()

    asyncio.run(story())


def test_a_damaged_save_is_told_and_a_new_match_starts(tmp_path):
    storage = Storage(tmp_path)
    saved_at(
        tmp_path, "As 2s 3s 9h 9d Kc Qd 4h 7c 8c", "Ah 2h 3h 5s 6s 7s Ts Jd Kd Qh", "4c", "6c Td"
    )
    saved = json.loads(storage.match_file(NORMAL).read_text())
    saved["hands"][0]["actions"] = ["draw"]
    storage.match_file(NORMAL).write_text(json.dumps(saved))

    async def story():
        async with sitting(tmp_path) as person:
            await person.settle(lambda: "damaged" in person.text())
            assert not person.screen.query_one("#continue").display
            await person.sit_down()
        assert (tmp_path / "match-normal.damaged-1.json").exists()
        assert Storage(tmp_path).load_match(NORMAL) is not None

    asyncio.run(story())


def test_an_unwritable_directory_does_not_stop_the_game(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    async def story():
        async with sitting(tmp_path) as person:
            monkeypatch.setattr("os.replace", full)
            await person.sit_down()
            await person.play_as(NORMAL.policy)
            await person.settle(lambda: "cannot be saved" in person.text())

    asyncio.run(story())


@pytest.mark.parametrize("key", ["ctrl+c", "q"])
def test_leaving_in_the_middle_of_a_move(tmp_path, key):
    async def story():
        async with sitting(tmp_path) as person:
            await person.sit_down()
            for _ in range(3):
                await person.play_as(NORMAL.policy)
            await person.press("right")
            match = person.match
            await person.press(key)
            await asyncio.sleep(0)
            assert "gin-play --level normal" in person.app.return_value
        assert Storage(tmp_path).load_match(NORMAL).state == match.state

    asyncio.run(story())


# The command


def test_what_is_wrong_with_a_command_line(capsys):
    pytest.importorskip("torch")  # which reads checkpoints
    for arguments, message in (
        (["--level", "hrad"], "unknown level 'hrad', did you mean 'hard'?"),
        (["--level", "nowhere.pt"], "there is no checkpoint nowhere.pt"),
        (["--rules", "oklahome"], "unknown --rules 'oklahome', did you mean 'oklahoma'?"),
        (["--scoring", "clasic"], "unknown --scoring 'clasic', did you mean 'classic'?"),
        (["--seed", "-1"], "'-1' is no whole number"),
        ([], "needs a terminal"),
    ):
        with pytest.raises(SystemExit) as left:
            play.main(arguments)
        assert left.value.code == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["textual", "platformdirs"])
def test_a_missing_extra_names_the_remedy(missing, monkeypatch, capsys):
    for name in [n for n in sys.modules if n.startswith(("agents.table", missing))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SystemExit) as left:
        play.main(["--level", "easy"])
    assert left.value.code == 2
    assert f"needs {missing}: pip install 'ginenv[play]'" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_killed_game_goes_on_where_it_stood(tmp_path):
    """In a real terminal: play a few moves, kill -9, and continue."""
    import pty

    saved_at(
        tmp_path, "As 2s 3s 9h 9d Kc Qd 4h 7c 8c", "Ah 2h 3h 5s 6s 7s Ts Jd Kd Qh", "4c", "6c Td"
    )
    own, theirs = pty.openpty()
    command = [sys.executable, "-m", "agents.play", "--data", str(tmp_path), "--pace", "0"]
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"}
    game = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    try:
        _read_until(own, b"Continue")
        os.write(own, b"c")
        _read_until(own, b"pass?")
        os.write(own, b"p")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            match = Storage(tmp_path).load_match(NORMAL)
            if len(match.log) > 1 and match.person_to_move:
                break
            time.sleep(0.05)
    finally:
        game.send_signal(signal.SIGKILL)
        game.wait()
        os.close(theirs)
        os.close(own)

    async def story():
        async with sitting(tmp_path) as person:
            await person.press("c")
            await person.my_turn()
            assert person.match.state == match.state
            assert person.match.log[0] == "You pass 4♣"
            await person.play_as(NORMAL.policy)

    asyncio.run(story())


def _read_until(terminal, wanted):
    """Read what the game writes until some text has come."""
    import select

    seen, deadline = b"", time.monotonic() + 60
    while wanted not in seen:
        assert time.monotonic() < deadline, seen[-2000:]
        if select.select([terminal], [], [], 0.5)[0]:
            seen += os.read(terminal, 65536)


def test_big_gin_is_only_offered_where_it_is_legal(tmp_path):
    async def story():
        async with sitting(tmp_path) as person:
            await person.sit_down()
            assert not person.screen.may(DECLARE_BIG_GIN)
            before = list(person.match.log)
            await person.press("b", "g", "k", "enter")
            assert person.match.log == before, "keys of what is not on offer do nothing"

    asyncio.run(story())
