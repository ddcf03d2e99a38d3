"""A position that play cannot reach is refused, with the game and the field."""

import numpy as np
import pytest

from ginenv import engine, soundness
from ginenv.rules import PRESETS, Phase, Result, Rules
from ginenv.state import FIELDS, State
from ginenv.view import resample_hidden, view
from tests.players import mixed

GAME = 3  # where the fault is


def in_play(phase=None, rules=PRESETS["standard"], seed=4):
    """Six games; the one at `GAME` is in a phase."""
    rng = np.random.default_rng(seed)
    state = engine.deal(rng, 60, Rules(**rules))
    seen = [state.copy()]
    for _ in range(40):
        engine.step(state, mixed(view(state), rng))
        seen.append(state.copy())
    every = State.concatenate(seen)
    wanted = every if phase is None else every[every.phase == phase]
    games = every[::300][:6]
    games[GAME] = wanted[len(wanted) // 2]
    return games


@pytest.mark.parametrize("preset", PRESETS)
def test_every_position_of_play_is_sound(preset):
    rng = np.random.default_rng(1)
    state = engine.deal(rng, 50, Rules.preset(preset))
    ended = 0
    for _ in range(120):
        outcome = engine.step(state, mixed(view(state), rng))
        soundness.check(state)
        soundness.check(resample_hidden(state, rng))
        ended += outcome.hand_over.sum()
        engine.redeal(state, outcome.hand_over, rng)
    assert ended > 15


def fault(state):
    with pytest.raises(ValueError) as caught:
        soundness.check(state)
    return str(caught.value)


LOWEST_AND_HIGHEST = {
    "phase": (0, 4),
    "player": (0, 1),
    "dealer": (0, 1),
    "result": (0, 5),
    "deck": (0, 51),
    "pile": (-1, 51),
    "pile_size": (0, 32),
    "upcard": (-1, 51),
    "face_down": (-1, 51),
    "drawn": (-1, 51),
    "stock_start": (21, 50),
    "turn": (0, 100),
    "knock_limit": (0, 10),
    "scores": (0, 2**30),
    "game_id": (0, None),
}


@pytest.mark.parametrize("field", LOWEST_AND_HIGHEST)
@pytest.mark.parametrize("above", [False, True])
def test_a_number_out_of_its_range_is_named(field, above):
    state = in_play()
    low, high = LOWEST_AND_HIGHEST[field]
    high = state.next_game_id - 1 if high is None else high
    for beyond in (1, 76):
        getattr(state, field)[GAME] = min(high + beyond, 127) if above else low - beyond
        if field in ("turn", "scores", "game_id") and above:
            getattr(state, field)[GAME] = high + beyond
        assert fault(state).startswith(f"game {GAME}: {field} is ")
        assert fault(state).endswith(f"allowed is {low} to {high}")


BOARDS = ["hands", "known", "discards", "declined", "in_pile"]


@pytest.mark.parametrize("field", BOARDS)
def test_a_bit_that_is_no_card_is_named(field):
    state = in_play()
    getattr(state, field)[GAME] |= np.uint64(1 << 15)
    assert f"game {GAME}: {field} is" in fault(state)
    assert "no card" in fault(state)


def test_every_field_is_looked_at():
    assert LOWEST_AND_HIGHEST.keys() | set(BOARDS) == FIELDS.keys()


def swap_in_deck(state):
    state.deck[GAME, 0] = state.deck[GAME, 1]


def lose_a_card(state):
    hand = state.hands[GAME, 0]
    state.hands[GAME, 0] ^= hand & (~hand + np.uint64(1))


def double_a_card(state):
    state.hands[GAME, 0] |= state.hands[GAME, 1]


def give_a_card_away(state):
    hand = state.hands[GAME, 0]
    state.known[GAME] = 0
    state.hands[GAME] ^= hand & (~hand + np.uint64(1))


def know_a_strange_card(state):
    state.known[GAME, 0] = state.in_pile[GAME]


def turn_the_pile(state):
    size = state.pile_size[GAME]
    state.pile[GAME, :size] = state.pile[GAME, :size][::-1]


FAULTS = {
    "a card twice in the deck": (Phase.DRAW, swap_in_deck, "deck"),
    "a hand without a card": (Phase.DRAW, lose_a_card, "hands"),
    "cards in both hands": (Phase.DRAW, double_a_card, "hands"),
    "nine and eleven cards": (Phase.DRAW, give_a_card_away, "hands"),
    "known and not in hand": (Phase.DRAW, know_a_strange_card, "known"),
    "a pile turned over": (Phase.DISCARD, turn_the_pile, "upcard"),
    "a pile too short": (Phase.DRAW, lambda s: s.pile_size.__isub__(s.pile_size > 1), "pile"),
    "a pile forgotten": (Phase.DRAW, lambda s: s.in_pile.__setitem__(GAME, 0), "in_pile"),
    "another top": (Phase.DRAW, lambda s: s.upcard.__setitem__(GAME, -1), "upcard"),
    "over without a result": (Phase.OVER, lambda s: s.result.__setitem__(GAME, 0), "result"),
    "a result in play": (Phase.DRAW, lambda s: s.result.__setitem__(GAME, 5), "result"),
    "a discard with ten": (Phase.DRAW, lambda s: s.phase.__setitem__(GAME, 3), "hands"),
    "a draw with eleven": (Phase.DISCARD, lambda s: s.phase.__setitem__(GAME, 2), "hands"),
    "an upcard in the middle": (Phase.DRAW, lambda s: s.phase.__setitem__(GAME, 0), "phase"),
    "the dealer forced": (
        Phase.FORCED_DRAW,
        lambda s: s.dealer.__setitem__(GAME, s.player[GAME]),
        "player",
    ),
    "no turn left": (Phase.DRAW, lambda s: s.turn.__setitem__(GAME, 100), "turn"),
    "drawn, not to discard": (Phase.DRAW, lambda s: s.drawn.__setitem__(GAME, 0), "drawn"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_position_that_cannot_be_is_named(name):
    phase, change, field = FAULTS[name]
    state = in_play(phase)
    soundness.check(state)
    change(state)
    assert f": {field} is " in fault(state)


def test_a_knock_lies_face_down():
    state = in_play(Phase.OVER)
    state.result[GAME] = Result.KNOCK if state.face_down[GAME] < 0 else Result.VOID
    assert f"game {GAME}: face_down is " in fault(state)


def test_the_stock_never_falls_below_the_rules_floor():
    state = in_play(Phase.DRAW)
    state.rules = Rules(stock_floor=30)
    assert "stock_start is " in fault(state) and "allowed is 21 to 22" in fault(state)


@pytest.mark.parametrize("counter", [-1, 2**63, 0])
def test_a_counter_that_cannot_be(counter):
    state = in_play()
    state.next_game_id = counter
    assert "next_game_id" in fault(state) or "game_id is" in fault(state)


def test_the_game_is_counted_through_all_blocks():
    state = in_play()[np.zeros(40_000, dtype=int)]
    state.phase[33_333] = 77
    assert fault(state) == "game 33333: phase is 77, allowed is 0 to 4"
