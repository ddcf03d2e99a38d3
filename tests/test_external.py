"""Outside programs: the same play through the pipe, and everything that they can do wrong."""

import contextlib
import json
import os
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from agents import protocol, protocol_reading
from agents.external import External, ExternalError, main
from agents.players import Ending, play, player
from ginenv import cards, engine
from ginenv.rules import KNOCK, TAKE_PILE, Rules
from ginenv.view import view
from tests.processes import alive, ends

GOOD_BOT = """
    import json, sys
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "decision":
            answer = {"game": message["game"], "action": message["legal"][0]}
            print(json.dumps(answer), flush=True)
"""


def takes_first(view, rng):
    """What GOOD_BOT does."""
    return view.action_mask.argmax(axis=1)


@pytest.fixture
def program(tmp_path):
    """Writes a program and gives the player that runs it; ends it after the test."""
    with contextlib.ExitStack() as closing:

        def write(source, time_limit=20.0):
            path = tmp_path / "bot.py"
            path.write_text(textwrap.dedent(source))
            return closing.enter_context(External(f"{sys.executable} {path}", time_limit))

        yield write


def fails(bot, **options):
    """The error of playing with a program."""
    with pytest.raises(ExternalError) as caught:
        play(bot, player("greedy"), 2, seed=0, **options)
    assert bot._process is None
    return caught.value


# The same play


@pytest.mark.parametrize("unit", ["hand", "match"])
def test_crazy_through_the_pipe_plays_exactly_as_in_process(unit):
    with External(f"{sys.executable} -m agents.external crazy") as outside:
        rules = Rules(target_score=40)
        piped = play(outside, player("hard"), 12, seed=1, unit=unit, rules=rules)
    inside = play(player("crazy"), player("hard"), 12, seed=1, unit=unit, rules=rules)
    assert np.array_equal(piped.points, inside.points)
    assert np.array_equal(piped.turns, inside.turns)
    assert np.array_equal(piped.endings, inside.endings)


def test_a_random_player_is_served_with_a_seed():
    rng = np.random.default_rng(5)
    easy = player("easy")
    with External(f"{sys.executable} -m agents.external easy --seed 5") as outside:
        piped = play(outside, player("hard"), 10, seed=1)
    inside = play(lambda seen, _: easy(seen, rng), player("hard"), 10, seed=1)
    assert np.array_equal(piped.points, inside.points)


def test_a_program_of_ten_lines_plays_under_all_rules(program):
    bot = program(GOOD_BOT)
    for preset in ("standard", "oklahoma", "eaai"):
        rules = Rules.preset(preset)
        outside = play(bot, player("greedy"), 6, seed=1, rules=rules)
        inside = play(takes_first, player("greedy"), 6, seed=1, rules=rules)
        assert np.array_equal(outside.points, inside.points)


def test_one_process_may_play_both_sides(program):
    tally = play(*[program(GOOD_BOT)] * 2, 5, seed=2)
    assert (tally.points.sum(axis=1) == 0).all()


def test_answers_may_come_in_any_order(program):
    backwards = """
        import json, sys
        waiting = []
        for line in sys.stdin:
            message = json.loads(line)
            if message["type"] == "decision":
                waiting.append({"game": message["game"], "action": message["legal"][0]})
                if message["more"] == 0:
                    for answer in reversed(waiting):
                        print(json.dumps(answer))
                    sys.stdout.flush()
                    waiting = []
    """
    outside = play(program(backwards), player("greedy"), 10, seed=1)
    inside = play(takes_first, player("greedy"), 10, seed=1)
    assert np.array_equal(outside.points, inside.points)


def test_many_games_at_once_do_not_block_the_pipes(program):
    # More text than the pipes hold, in both directions, to a program that answers at once.
    talkative = GOOD_BOT.replace('message["legal"][0]}', 'message["legal"][0], "why": "x" * 900}')
    outside = play(program(talkative), player("greedy"), 150, seed=1)
    assert outside.num_hands == 300


# Messages


def messages_of(seed, program, tmp_path):
    """All that a program is told while it plays, as it received it."""
    log = tmp_path / "log.jsonl"
    bot = GOOD_BOT.replace(
        "message = json.loads(line)",
        f"open({str(log)!r}, 'a').write(line); message = json.loads(line)",
    )
    with program(bot) as outside:
        play(outside, player("greedy"), 4, seed=seed)
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_hello_comes_first_and_every_hand_ends_with_a_line(program, tmp_path):
    told = messages_of(3, program, tmp_path)
    assert told[0]["type"] == "hello"
    assert told[0]["protocol"] == protocol.PROTOCOL
    assert Rules(**told[0]["rules"]) == Rules()
    ended = [message for message in told if message["type"] == "hand_over"]
    assert len(ended) == 8
    assert {m["game"] for m in told if m["type"] == "decision"} <= {m["game"] for m in ended}


def test_the_end_of_a_hand_shows_both_hands_melds_and_points(program, tmp_path):
    for message in messages_of(3, program, tmp_path):
        if message["type"] != "hand_over" or message["knocker"] is None:
            continue
        own, other = set(message["hand"]), set(message["opponent_hand"])
        assert not own & other
        laid_off = {card for layoff in message["layoffs"] for card in layoff["cards"]}
        for hand, melds, key in (
            (own, message["melds"], "deadwood"),
            (other, message["opponent_melds"], "opponent_deadwood"),
        ):
            loose = hand - {card for meld in melds for card in meld} - laid_off
            points = sum(int(cards.CARD_POINTS[cards.card(card)]) for card in loose)
            assert points == message[key]
        assert abs(message["points"]) >= 1


def test_layoffs_are_told_card_by_card():
    # He takes the three of hearts and knocks with the king of spades: deadwood 3.  The defender
    # has three kings of his own and lays the 8 and then the 9 on the run.
    knocker = ["5s", "6s", "7s", "Jh", "Jd", "Jc", "2h", "2d", "2c", "Ks"]
    defender = ["8s", "9s", "Kh", "Kd", "Kc", "Ah", "4h", "4d", "Qs", "Td"]
    dealt = [name for pair in zip(knocker, defender, strict=True) for name in pair] + ["3h"]
    deck = [cards.card(name) for name in dealt]
    deck += [card for card in range(52) if card not in deck]
    state = engine.deal(None, 1, dealer=1, decks=deck)
    engine.step(state, [TAKE_PILE])
    outcome = engine.step(state, [KNOCK + cards.card("Ks")])

    for seat in (0, 1):
        ending = Ending(
            result=outcome.result,
            points=outcome.points[:, seat],
            knocker=np.array([seat], dtype=np.int8),
            deadwood=outcome.deadwood if seat == 0 else outcome.deadwood[:, ::-1],
            opponent_hand=state.hands[:, 1 - seat],
            match_over=outcome.match_over,
        )
        (told,) = protocol.endings(view(state, seat), ending)
        assert told["knocker"] == ("you", "opponent")[seat]
        assert told["layoffs"] == [{"on": ["5s", "6s", "7s"], "cards": ["8s", "9s"]}]
        assert told["opponent_melds" if seat == 0 else "melds"] == [["Kh", "Kd", "Kc"]]
        assert told["points"] == (26, -26)[seat]  # 1 + 4 + 4 + 10 + 10 less 3
        assert (told["deadwood"], told["opponent_deadwood"]) == ((3, 29), (29, 3))[seat]
        assert told["scores"] == ([26, 0], [0, 26])[seat]


def test_a_decision_holds_the_whole_view_and_nothing_else():
    rng = np.random.default_rng(0)
    state = engine.deal(rng, 50)
    for _ in range(30):
        seen = view(state)
        rows = np.flatnonzero(seen.to_move)
        requests = json.loads(json.dumps(protocol.decisions(seen[rows])))
        again = protocol_reading.read_view(requests, state.rules)
        for name in type(seen).__dataclass_fields__:
            if name != "rules":
                assert np.array_equal(getattr(again, name), getattr(seen, name)[rows]), name
        assert np.array_equal(again.action_mask, seen.action_mask[rows])
        mask = seen.action_mask
        actions = np.where(mask.any(axis=1), (rng.random(mask.shape) * mask).argmax(axis=1), -1)
        engine.step(state, actions)


# Faults


def test_a_program_that_hangs(program):
    began = time.monotonic()
    error = fails(program("import time; time.sleep(1000)", time_limit=0.5))
    assert time.monotonic() - began < 15
    assert "no answer within 0.5 seconds" in str(error)
    assert error.game is not None
    assert error.request["game"] == error.game
    assert error.answer is None
    assert f"game {error.game}" in str(error)
    assert '"type": "decision"' in str(error)


def test_a_program_that_dies(program):
    error = fails(program("import sys; sys.exit('out of cards')"))
    assert "ended with exit status 1" in str(error)
    assert "out of cards" in str(error)
    assert error.request is not None


def test_a_program_that_dies_in_the_middle(program):
    error = fails(program(GOOD_BOT.replace("print(", "sys.exit(7) if message['turn'] else print(")))
    assert "ended with exit status 7" in str(error)


NONSENSE = {
    "hello there": "no JSON",
    "": "no JSON",
    "[": "no JSON",
    "[" * 60_000: "no JSON",
    "[]": "no object with game and action",
    "{}": "no object with game and action",
    '{"game": GAME}': "no object with game and action",
    '{"game": -5, "action": "draw"}': "game -5, which is not waiting",
    '{"game": "GAME", "action": "draw"}': "not waiting",
    '{"game": [[]], "action": "draw"}': "not waiting",
    '{"game": GAME, "action": "resign"}': "not legal; legal is: take, pass",
    '{"game": GAME, "action": "draw"}': "chose 'draw', which is not legal",
    '{"game": GAME, "action": [[]]}': "not legal",
    '{"game": GAME, "action": "pass"}\n{"game": GAME, "action": "pass"}': "not waiting",
    "x" * 1_000_000: "more than 65536 bytes",
}


@pytest.mark.parametrize("answer", NONSENSE, ids=lambda answer: answer[:40])
def test_a_program_that_answers_nonsense(program, tmp_path, answer):
    (tmp_path / "answer").write_text(answer)
    bot = f"""
        import json, sys
        sys.stdin.readline()
        game = json.loads(sys.stdin.readline())["game"]
        print(open({str(tmp_path / "answer")!r}).read().replace("GAME", str(game)), flush=True)
        sys.stdin.read()
    """
    error = fails(program(bot))
    assert NONSENSE[answer] in str(error)
    assert error.answer is not None
    assert f"(asked about game {error.game})" in str(error)
    assert len(str(error)) < 3000


def test_bytes_that_are_no_text(program):
    error = fails(program("import sys; sys.stdout.buffer.write(bytes([255, 10]))"))
    assert "no JSON" in str(error)


def test_a_line_that_breaks_off(program):
    assert "a line that breaks off" in str(fails(program("print('{', end='')")))


def test_a_program_that_floods_is_stopped_at_its_first_line(program):
    error = fails(program("while True: print('x' * 1000)"))
    assert "no JSON" in str(error)


def test_a_program_that_floods_its_error_output_plays_on(program):
    noisy = GOOD_BOT.replace("answer =", "sys.stderr.write('e' * 10**6); answer =")
    assert play(program(noisy), player("greedy"), 2, seed=0).num_hands == 4


def test_a_program_that_does_not_read(program):
    # It answers nothing and reads nothing, while there is more to write than the pipe holds.
    bot = program("import time; time.sleep(1000)", time_limit=0.5)
    with pytest.raises(ExternalError, match="no answer"):
        play(bot, player("greedy"), 500, seed=0)


def test_the_process_is_always_ended(program):
    bot = program("import time; time.sleep(1000)", time_limit=0.3)
    view_of_one = view(engine.deal(np.random.default_rng(0), 1))
    process = bot._running(view_of_one.rules)
    pid = process._process.pid
    assert alive(pid)
    with pytest.raises(ExternalError):
        bot(view_of_one, np.random.default_rng(0))
    assert not alive(pid)


def test_a_program_that_ignores_the_end_of_its_input_is_killed(program):
    bot = program(GOOD_BOT + "\n    import time; time.sleep(1000)")
    play(bot, player("greedy"), 1, seed=0)
    pid = bot._process._process.pid
    bot.close(grace=0.2)
    assert not alive(pid)
    assert play(bot, player("greedy"), 1, seed=0).num_hands == 2  # and may be started again


@pytest.mark.skipif(os.name == "nt", reason="process groups")
def test_what_a_program_started_ends_with_it_even_if_it_ends_first(program, tmp_path):
    number = tmp_path / "number"
    leaves_a_child = f"""
        import subprocess, sys
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
        open({str(number)!r}, "w").write(str(child.pid))
    """
    fails(program(leaves_a_child, time_limit=5.0))
    assert ends(int(number.read_text()))


@pytest.mark.parametrize("ending", ["", "del bot", "1 / 0"])
def test_no_process_outlives_ours(tmp_path, ending):
    path = tmp_path / "bot.py"
    path.write_text(textwrap.dedent(GOOD_BOT) + "\nimport time; time.sleep(1000)\n")
    script = f"""
from agents.external import External
from agents.players import play, player
bot = External({f"{sys.executable} {path}"!r})
play(bot, player("greedy"), 1, seed=0)
print(bot._process._process.pid, flush=True)
{ending}
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert not alive(int(done.stdout))


def test_commands_that_cannot_be_run():
    with pytest.raises(ValueError, match="no program 'nonesuch'"):
        player("cmd:nonesuch --fast")
    with pytest.raises(ValueError, match="needs a command"):
        player("cmd:")
    with pytest.raises(ValueError, match="cannot read the command"):
        player("cmd:python 'bot")
    with pytest.raises(ValueError, match="above 0"):
        External(sys.executable, time_limit=0)


def test_a_name_with_cmd_is_a_player():
    bot = player(f"cmd:{sys.executable} bot.py")
    assert isinstance(bot, External)
    assert bot.command == f"{sys.executable} bot.py"


# Serving


def test_serving_an_unknown_policy_is_one_line(capsys):
    assert main(["craxy"]) == 2
    assert "did you mean 'crazy'" in capsys.readouterr().err


def test_serving_refuses_another_version_of_the_protocol():
    hello = json.dumps(protocol.hello(Rules()) | {"protocol": 99}) + "\n"
    done = subprocess.run(
        [sys.executable, "-m", "agents.external", "greedy"],
        input=hello,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert "protocol 99" in done.stderr
    assert "Traceback" not in done.stderr
