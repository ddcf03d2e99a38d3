"""Hands as lines of JSON: written beside a batch of games, played again, and what breaks one."""

import io
import json

import numpy as np
import pytest

from ginenv import cards, engine
from ginenv.record import Record, Recorder, RecordError, check, positions, read
from ginenv.rules import PRESETS, STANDARD, Phase, Result, Rules
from ginenv.view import view
from tests.players import mixed


def recorded(rules=STANDARD, num_games=25, steps=120, seed=1, players=None):
    """The lines of some games of mixed play, and what was seen of them at the time.

    Gives the lines and a list, in the same order, of (deck, dealer, result, points, score after).
    """
    rng = np.random.default_rng(seed)
    state = engine.deal(rng, num_games, rules)
    file, seen = io.StringIO(), []
    with Recorder(file, players) as recorder:
        for _ in range(steps):
            actions = mixed(view(state), rng)
            outcome = engine.step(state, actions)
            recorder.add(state, actions, outcome)
            for row in np.flatnonzero(outcome.hand_over):
                seen.append(
                    (
                        tuple(state.deck[row].tolist()),
                        state.dealer[row],
                        Result(outcome.result[row]),
                        tuple(outcome.points[row].tolist()),
                        state.scores[row].tolist(),
                    )
                )
            engine.redeal(state, outcome.hand_over, rng)
    assert recorder.hands_written == len(seen)
    return file.getvalue().splitlines(), seen


LINES, SEEN = recorded()


# What is written is read


@pytest.mark.parametrize("preset", PRESETS)
def test_all_hands_are_recorded_and_play_again(preset):
    lines, seen = recorded(Rules.preset(preset))
    records = list(read(lines))
    assert len(records) == len(seen) > 10
    for record, (deck, dealer, result, points, after) in zip(records, seen, strict=True):
        assert record.rules == Rules.preset(preset)
        assert (record.deck, record.dealer) == (deck, dealer)
        assert (record.result, record.points) == (result, points)
        assert [b + max(p, 0) for b, p in zip(record.scores, points, strict=True)] == after


def test_a_line_is_what_a_person_can_read():
    about = json.loads(LINES[0])
    assert list(about) == "format rules deck dealer scores actions result points".split()  # noqa: SIM905
    assert about["rules"]["knock_limit"] == 10
    assert len(about["deck"].split()) == 52
    assert about["result"] in Result.__members__
    assert {action.split()[0] for action in about["actions"]} <= {
        *("pass", "take", "draw", "discard", "knock", "big"),
    }


def test_a_record_and_its_line_are_one_and_the_same():
    for line in LINES:
        assert Record.parse(line).line() == line


def test_positions_lead_from_the_deal_to_the_end():
    record = next(r for r in map(Record.parse, LINES) if r.result == Result.KNOCK)
    states = list(positions(record))
    assert len(states) == len(record.actions) + 1
    assert states[0].phase[0] == Phase.UPCARD and states[-1].phase[0] == Phase.OVER
    assert tuple(states[0].scores[0].tolist()) == record.scores
    assert states[-1].result[0] == record.result
    states[3].hands[:] = 0
    assert cards.count(states[4].hands).min() >= 10


def test_names_of_the_players():
    lines, _ = recorded(players=("crazy", "Zoë"), steps=60)
    assert {record.players for record in read(lines)} == {("crazy", "Zoë")}
    pairs = np.array([["a", "b"], ["b", "a"]])[np.arange(25) % 2]
    lines, _ = recorded(players=pairs, steps=60)
    assert {record.players for record in read(lines)} == {("a", "b"), ("b", "a")}


def test_a_file_holds_only_whole_hands(tmp_path):
    rng = np.random.default_rng(3)
    state = engine.deal(rng, 20)
    with Recorder(tmp_path / "hands.jsonl") as recorder:
        for _ in range(30):
            actions = mixed(view(state), rng)
            outcome = engine.step(state, actions)
            recorder.add(state, actions, outcome)
    assert len(list(read(tmp_path / "hands.jsonl"))) == recorder.hands_written > 0
    assert recorder.hands_written < 20  # a batch that was left in the middle


# Rows that come and go


def test_games_may_be_dropped_and_change_places():
    rng = np.random.default_rng(4)
    state = engine.deal(rng, 40)
    decks = {tuple(deck.tolist()) for deck in state.deck}
    file = io.StringIO()
    recorder = Recorder(file)
    while len(state):
        actions = mixed(view(state), rng)
        outcome = engine.step(state, actions)
        recorder.add(state, actions, outcome)
        going_on = np.flatnonzero(~outcome.hand_over)
        state = state[rng.permutation(going_on)]
    assert {record.deck for record in read(file.getvalue().splitlines())} == decks


def test_a_hand_whose_start_was_not_seen_is_left_out():
    rng = np.random.default_rng(5)
    state = engine.deal(rng, 20)
    file = io.StringIO()
    recorder = Recorder(file)
    for step in range(150):
        actions = mixed(view(state), rng)
        outcome = engine.step(state, actions)
        if step >= 5:
            recorder.add(state, actions, outcome)
        if step % 50 == 49:  # all hands of some rows are abandoned
            engine.redeal(state, np.arange(10), rng)
        engine.redeal(state, state.phase == Phase.OVER, rng)
    records = list(read(file.getvalue().splitlines()))
    assert len(records) == recorder.hands_written > 10


def test_one_recorder_follows_batch_after_batch():
    file = io.StringIO()
    recorder = Recorder(file)
    for num_games in (0, 5, 30, 1, 30):
        rng = np.random.default_rng(num_games)
        state = engine.deal(rng, num_games)
        while (state.phase != Phase.OVER).any():
            actions = mixed(view(state), rng)
            recorder.add(state, actions, engine.step(state, actions))
    assert len(list(read(file.getvalue().splitlines()))) == 66


def test_a_hand_of_many_turns_is_recorded_whole():
    lines, _ = recorded(Rules(max_turns=400, knock_limit=0, stock_floor=0), steps=400, num_games=2)
    assert max(len(record.actions) for record in read(lines)) > 64


# What breaks a record


def changed(line, **fields):
    return json.dumps({**json.loads(line), **fields})


def first_with(verb):
    """A line in which an action of this kind happens, and the step at which it does."""
    for number, line in enumerate(LINES):
        for step, action in enumerate(json.loads(line)["actions"], start=1):
            if action.startswith(verb):
                return number, step
    raise AssertionError(f"no {verb} among the lines")


def breaks(lines):
    """What reading says, and how many good records came before."""
    good = 0
    try:
        for _ in read(lines):
            good += 1
    except RecordError as error:
        return good, error
    raise AssertionError("nothing broke")


def test_a_truncated_file_gives_its_good_lines_first():
    lines = [*LINES[:20], LINES[20][:250]]
    good, error = breaks(lines)
    assert (good, error.line, error.step) == (20, 21, None)
    assert "truncated" in error.reason


def test_a_hand_that_is_cut_short_says_at_which_step():
    actions = json.loads(LINES[4])["actions"]
    lines = [*LINES[:4], changed(LINES[4], actions=actions[:-1]), *LINES[5:]]
    good, error = breaks(lines)
    assert (good, error.line, error.step) == (4, 5, len(actions) - 1)
    assert "the hand is not over" in error.reason


def test_an_illegal_action_says_what_is_legal():
    number, step = first_with("draw")
    actions = json.loads(LINES[number])["actions"]
    actions[step - 1] = "pass" if step > 2 else "big gin"
    lines = [*LINES[:number], changed(LINES[number], actions=actions), *LINES[number + 1 :]]
    good, error = breaks(lines)
    assert (good, error.line, error.step) == (number, number + 1, step)
    assert "illegal in phase" in error.reason and "draw" in error.reason
    assert str(error).startswith(f"line {number + 1}, step {step}: action")


def test_an_action_after_the_end_is_illegal():
    actions = json.loads(LINES[0])["actions"]
    _, error = breaks([changed(LINES[0], actions=[*actions, "draw"])])
    assert error.step == len(actions) + 1
    assert "the hand is over" in error.reason


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"result": "BIG_GIN"}, r"the hand ends with \w+ and points .* says BIG_GIN"),
        ({"points": [1, -1]}, r"the record says \w+ and \[1, -1\]"),
    ],
)
def test_a_wrong_end_is_found_at_the_last_step(fields, complaint):
    number = next(n for n, line in enumerate(LINES) if "VOID" not in line)
    good, error = breaks([*LINES[:number], changed(LINES[number], **fields)])
    assert (good, error.line) == (number, number + 1)
    assert error.step == len(json.loads(LINES[number])["actions"])
    with pytest.raises(ValueError, match=complaint):
        check(Record.parse(changed(LINES[number], **fields)))


def rules_without(field):
    rules = json.loads(LINES[0])["rules"]
    rules.pop(field)
    return rules


DECK = json.loads(LINES[0])["deck"]


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"format": 2}, "format 2; this ginenv reads 1"),
        ({"rules": {**json.loads(LINES[0])["rules"], "trumps": 1}}, "another version.* trumps"),
        ({"rules": rules_without("max_turns")}, "another version.* max_turns"),
        ({"rules": {**json.loads(LINES[0])["rules"], "knock_limit": 12}}, "0 to 10"),
        ({"rules": "standard"}, "rules must be an object"),
        ({"deck": DECK[3:]}, f"51 cards, without {DECK[:2]}"),
        ({"deck": DECK.replace(DECK[:2], DECK[3:5], 1)}, "without"),
        ({"deck": DECK.replace("Th", "10h")}, "'10h' is no card"),
        ({"deck": list(range(52))}, "deck"),
        ({"dealer": 2}, "dealer must be seat 0 or 1, got 2"),
        ({"dealer": True}, "dealer must be seat 0 or 1"),
        ({"scores": [0]}, "scores must be two integers"),
        ({"scores": [0, -5]}, "scores"),
        ({"scores": [100, 0]}, "match to 100"),
        ({"scores": [0.5, 0]}, "scores must be two integers"),
        ({"actions": "draw"}, "actions must be a list"),
        ({"actions": [105]}, "actions must be a list of texts"),
        ({"actions": ["draw"] * 300}, "300 actions"),
        ({"result": "DRAW"}, "result must be one of"),
        ({"result": ["GIN"]}, "result must be one of"),
        ({"points": [1, 2, 3]}, "points must be two integers"),
        ({"points": [10**30, 0]}, "points must be two integers"),
        ({"players": "crazy"}, "players must be two names"),
        ({"colour": 1}, "unknown: colour"),
        ({"format": True}, "format True"),
        ({"format": 1.0}, "format 1.0"),
        ({"format": [[[[[[[[[1]]]]]]]]]}, r"\[\.\.\.\]"),
        ({"players": ["a" * 100_000, 1]}, "players must be two names"),
    ],
)
def test_a_malformed_record_says_why(fields, complaint):
    _, error = breaks([changed(LINES[0], **fields)])
    assert error.line == 1
    with pytest.raises(ValueError, match=complaint):
        raise error


def test_an_unknown_action_is_named_with_its_step():
    actions = json.loads(LINES[0])["actions"]
    _, error = breaks([changed(LINES[0], actions=[actions[0], "meld", *actions[2:]])])
    assert (error.line, error.step) == (1, 2)
    assert "'meld' is no action" in error.reason


@pytest.mark.parametrize(
    "line", ["{}", "[]", "1", "nonsense", "[" * 100_000, '{"format": 1}', "\x00", "NaN"]
)
def test_what_is_no_record_is_refused(line):
    good, error = breaks([LINES[0], line])
    assert (good, error.line) == (1, 2)


def test_a_line_without_an_end_is_not_read_to_its_end(tmp_path):
    path = tmp_path / "hands.jsonl"
    with open(path, "w") as file:
        file.write(LINES[0] + "\n")
        file.truncate(3_000_000_000)  # zeros that take no room on the disk
    records = read(path)
    assert next(records).line() == LINES[0]
    with pytest.raises(RecordError, match="line 2: a line of more than 1000000 characters"):
        next(records)


def test_empty_lines_count_but_do_no_harm():
    good, error = breaks(["", LINES[0], "   ", LINES[1], "broken"])
    assert (good, error.line) == (2, 5)


def test_files_of_several_rules_keep_their_order():
    other, _ = recorded(Rules.preset("eaai"), num_games=5)
    mixture = [line for pair in zip(LINES, other, strict=False) for line in pair]
    assert [record.line() for record in read(mixture)] == mixture
