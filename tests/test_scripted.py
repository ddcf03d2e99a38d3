"""The scripted bots: what each level is known for, and what holds of all of them."""

import dataclasses
from dataclasses import replace

import numpy as np
import pytest

from agents.players import play
from agents.scripted import STYLES, Scripted, loose_cards, own_turn
from ginenv import cards, engine, opponents
from ginenv.rules import (
    DECLARE_BIG_GIN,
    DRAW_STOCK,
    KNOCK,
    PASS,
    STANDARD,
    TAKE_PILE,
    Phase,
    Rules,
    action_name,
)
from ginenv.view import View, resample_hidden, view
from tests import brute
from tests.hands import meld_rich_hand, rich_deck, shuffled_deck
from tests.positions import position
from tests.table import PRESETS

BOTS = {name: Scripted(style) for name, style in STYLES.items()}
LADDER = ["easy", "normal", "hard", "crazy"]
STEADY = ["greedy", "patient", "hard", "crazy"]  # draw no random numbers


def choice(bot, *args, **kwargs):
    """The name of the bot's action in a position."""
    actions = BOTS[bot](position(*args, **kwargs), np.random.default_rng(0))
    return action_name(int(actions[0]))


def decisions(bots, num_games, seed, rules=STANDARD, deck=shuffled_deck, num_steps=80):
    """States of games between some bots, each seat of each game played by a random one."""
    rng = np.random.default_rng(seed)
    decks = np.array([deck(rng) for _ in range(num_games)])
    state = engine.deal(rng, num_games, rules, decks=decks)
    who = rng.integers(len(bots), size=(num_games, 2))
    for _ in range(num_steps):
        yield state
        actions = np.empty(num_games, dtype=np.int64)
        seen = view(state)
        for number, bot in enumerate(bots):
            rows = np.flatnonzero(who[np.arange(num_games), state.player] == number)
            actions[rows] = bot(seen[rows], rng)
        over = np.flatnonzero(engine.step(state, actions).hand_over)
        if over.size:
            engine.redeal(state, over, rng, decks=np.array([deck(rng) for _ in over]))


# The yardsticks


def test_the_names_are_known():
    assert set(STYLES) == {"greedy", "patient", *LADDER}
    for name, bot in BOTS.items():
        assert opponents.resolve(name) == bot


def allowed_to_greedy(hand, seen, gin_only):
    """All that the description of `greedy` allows in one position, by definition."""
    if seen.phase == Phase.FORCED_DRAW:
        return {DRAW_STOCK}
    if seen.phase != Phase.DISCARD:
        top = int(seen.upcard[0])
        held = brute.least_deadwood(hand)
        into_a_meld = all(
            any(top in meld for meld in laid) for laid in brute.best_arrangements(hand | {top})
        )
        lowers = min(brute.least_deadwood((hand | {top}) - {c}) for c in hand) < held
        return {TAKE_PILE if into_a_meld and lowers else PASS if seen.phase == 0 else DRAW_STOCK}
    if seen.rules.big_gin and brute.least_deadwood(hand) == 0:
        return {DECLARE_BIG_GIN}
    left = {c: brute.least_deadwood(hand - {c}) for c in hand - {int(seen.drawn[0])}}
    least = min(left.values())
    knocks = least <= (0 if gin_only else seen.knock_limit[0])
    return {c + KNOCK * bool(knocks) for c in left if left[c] == least}


@pytest.mark.parametrize("name", ["greedy", "patient"])
@pytest.mark.parametrize("preset", ["standard", "oklahoma", "no_big_gin"])
def test_greedy_and_patient_are_what_they_are_described_as(name, preset):
    rng = np.random.default_rng(3)
    kinds = set()
    for state in decisions([BOTS[name]], 5, 17, Rules.preset(preset), rich_deck, 40):
        seen = view(state)
        actions = BOTS[name](seen, rng)
        for row, action in enumerate(actions.tolist()):
            hand = frozenset(cards.ids(seen.hand[row]))
            assert action in allowed_to_greedy(hand, seen[row], gin_only=name == "patient")
            kinds.add(action_name(action).split()[0])
    assert kinds >= {"discard", "knock", "draw", "take", "pass"}


# The ladder


@pytest.mark.parametrize("name", ["easy", "normal"])
def test_slips_happen_as_often_as_the_style_says(name):
    """A slip throws any loose card, each with the same chance, and the best may be among them."""
    style = STYLES[name]
    bot, steady = BOTS[name], Scripted(replace(style, slips=0.0, overlooks=0.0))
    rng = np.random.default_rng(5)
    hits, expected, variance, others = 0, 0.0, 0.0, 0
    offers, taken = 0, 0
    for state in decisions([bot], 400, 11, num_steps=50):
        seen = view(state)
        actions, best = bot(seen, rng), steady(seen, rng)
        offers += (best == TAKE_PILE).sum()
        taken += (actions == TAKE_PILE).sum()
        assert not np.any((actions == TAKE_PILE) & (best != TAKE_PILE))
        rows = np.flatnonzero(best < KNOCK)
        loose = cards.planes(loose_cards(seen[rows]) & ~cards.bit_of(seen.drawn[rows]))
        among = loose.sum(axis=1)
        assert np.all(loose[np.arange(len(rows)), actions[rows]][actions[rows] != best[rows]])
        is_loose = loose[np.arange(len(rows)), best[rows]]
        chance = 1 - style.slips + style.slips * is_loose / np.maximum(among, 1)
        chance[among == 0] = 1
        hits += (actions[rows] == best[rows]).sum()
        expected += chance.sum()
        variance += (chance * (1 - chance)).sum()
        others += (actions[rows] != best[rows]).sum()
        assert np.array_equal(
            actions[best >= KNOCK] >= DRAW_STOCK, best[best >= KNOCK] >= DRAW_STOCK
        )
    assert abs(hits - expected) < 4 * variance**0.5
    spread = (offers * style.overlooks * (1 - style.overlooks)) ** 0.5
    assert offers > 500 and others > 200
    assert abs(taken - offers * (1 - style.overlooks)) < 4 * spread


def test_loose_cards_are_those_that_some_best_arrangement_leaves_out():
    rng = np.random.default_rng(7)
    for _ in range(60):
        hand = meld_rich_hand(rng, 11)
        drawn = int(rng.choice([-1, *hand]))
        text = brute.show(hand)
        seen = position(text, drawn=cards.name(drawn) if drawn >= 0 else "")
        left_out = {c for laid in brute.best_arrangements(hand) for c in hand.difference(*laid)}
        assert set(cards.ids(loose_cards(seen)[0])) == left_out


def test_hard_does_not_feed_a_run():
    """The opponent took the seven and the eight of spades; nine of spades, or of hearts?"""
    hand = "2c 3c 4c Ad Ah As 5d 6d 7d 9s 9h"
    assert choice("greedy", hand, limit=0) == "discard 9s"
    assert choice("hard", hand, took="7s 8s", limit=0) == "discard 9h"
    assert choice("crazy", hand, took="7h 8h", limit=0) == "discard 9s"


def test_hard_does_not_feed_a_set():
    """The opponent took two kings; the third stays in hand and a queen goes."""
    hand = "2c 3c 4c Ad Ah As 5d 6d 7d Ks Qh"
    assert choice("greedy", hand, limit=0) == "discard Ks"
    assert choice("hard", hand, took="Kd Kc", limit=0) == "discard Qh"
    assert choice("hard", hand, took="Qd Qc", limit=0) == "discard Ks"


def test_hard_counts_what_is_dead():
    """Kings and queens in pairs, and both missing cards of one rank lie in the pile."""
    hand = "2c 3c 4c 5h 8d As 7h Ks Kh Qd Qc"
    assert choice("hard", hand, pile="Kd Kc", turn=2)[:9] == "discard K"
    assert choice("hard", hand, pile="Qs Qh", turn=2)[:9] == "discard Q"
    assert choice("normal", hand, pile="Kd Kc") == choice("normal", hand, pile="Qs Qh")


def test_hard_throws_what_the_opponent_threw():
    """Tens of spades and hearts are alike but for the jacks and nines that he threw."""
    hand = "2c 3c 4c Ad Ah As 5d 6d 7d Ts Th"
    assert choice("hard", hand, pile="Js 9s", threw="Js 9s", limit=0) == "discard Ts"
    assert choice("hard", hand, pile="Jh 9h", threw="Jh 9h", limit=0) == "discard Th"


def test_hard_takes_a_pile_card_of_great_promise():
    """The nine makes no meld, but fits two cards each way; early on that is worth a queen."""
    hand = "7s 8c 9h 3d 2h Ac 4c Kd Qs Jh"
    draws = {"phase": Phase.UPCARD, "turn": 0, "stock": 31}
    assert choice("greedy", hand, upcard="8s", **draws) == "pass"
    assert choice("hard", hand, upcard="8s", **draws) == "take"
    assert choice("hard", hand, upcard="6d", **draws) == "pass"


# Knocks: three melds and two cards that fit nothing.

NEAR_GIN = "5s 6s 7s 9h 9d 9c Jh Qh Kh"


def test_crazy_knocks_early_while_the_opponent_is_rough():
    """Nothing is near gin: with three loose cards left, everyone who may knocks on turn 2."""
    hand = "5s 6s 7s 9h 9d 9c 2h 3d 4c Kd Ac"
    for bot in ("greedy", "easy", "hard", "crazy"):
        assert choice(bot, hand, turn=4).startswith("knock Kd")
    assert choice("patient", hand, turn=4).startswith("discard")


def test_crazy_holds_out_for_gin_when_one_card_away():
    """4s, 8s, 9s and Th would all be gin."""
    assert choice("hard", f"{NEAR_GIN} 8d 2c", turn=4) == "knock 8d"
    assert choice("crazy", f"{NEAR_GIN} 8d 2c", turn=4).startswith("discard")


def test_crazy_does_not_wait_for_dead_cards():
    """The same hand, and the cards that would be gin are dead: it knocks."""
    dead = "4s 8s 9s Th"
    assert choice("crazy", f"{NEAR_GIN} 8d 2c", turn=4, pile=dead) == "knock 8d"


def test_crazy_knocks_low_or_not_at_all_later_on():
    dead = "4s 8s 9s Th"
    assert choice("crazy", f"{NEAR_GIN} Kd 2c", turn=16, pile=dead) == "knock Kd"
    assert choice("crazy", f"{NEAR_GIN} Kd 8d", turn=16, pile=dead).startswith("discard")
    assert choice("hard", f"{NEAR_GIN} Kd 8d", turn=16, pile=dead) == "knock Kd"


def test_crazy_knocks_with_anything_on_its_last_turn():
    hand = "5s 6s 7s 9h 9d 9c Kd Ah 3d 5c Ac"
    assert choice("crazy", hand, turn=26, stock=8).startswith("discard")
    assert choice("crazy", hand, turn=26, stock=2) == "knock Kd"


@pytest.mark.parametrize("name", BOTS)
def test_nobody_passes_up_gin(name):
    gin, big_gin = f"{NEAR_GIN} Th 2c", f"{NEAR_GIN} Th 8s"
    for turn, stock in [(0, 31), (16, 15), (26, 2)]:
        for limit in (0, 10):
            assert choice(name, gin, turn=turn, stock=stock, limit=limit) == "knock 2c"
            assert choice(name, big_gin, turn=turn, stock=stock, limit=limit) == "big gin"
            small = choice(name, big_gin, limit=limit, rules=Rules(big_gin=False))
            assert small.startswith("knock")


def test_the_ladder_is_strict():
    """With intervals clear of zero already over few hands; the README has it over many."""
    for better, worse, pairs in [("normal", "easy", 100), ("hard", "normal", 400)]:
        assert play(BOTS[better], BOTS[worse], pairs, seed=1).points_a_hand.low > 0
    assert play(BOTS["crazy"], BOTS["hard"], 1000, seed=1).points_a_hand.low > 0


@pytest.mark.slow
@pytest.mark.parametrize(("better", "worse"), [*zip(LADDER[1:], LADDER[:-1], strict=True)])
def test_the_ladder_is_strict_over_many_hands_and_games(better, worse):
    assert play(BOTS[better], BOTS[worse], 20_000, seed=2).points_a_hand.low > 0.5
    assert play(BOTS[better], BOTS[worse], 1_000, seed=2, unit="match").games_won.low > 0.53


# What holds of every bot


@pytest.mark.parametrize("preset", PRESETS)
def test_only_legal_actions(preset):
    """`step` refuses any other; half of the decks are rich, so that hands end in all ways."""
    for deck in (shuffled_deck, rich_deck):
        for state in decisions(list(BOTS.values()), 60, 23, Rules.preset(preset), deck, 60):
            seen = view(state)
            assert np.all(seen.action_mask.any(axis=1))


@pytest.mark.parametrize("name", STEADY)
def test_a_row_does_not_depend_on_the_others(name):
    bot, rng = BOTS[name], np.random.default_rng(0)
    for state in decisions([BOTS["hard"], BOTS["crazy"]], 60, 29, num_steps=30):
        actions = bot(view(state), rng)
        order = rng.permutation(len(state))
        assert np.array_equal(bot(view(state[order]), rng), actions[order])
        few = rng.choice(len(state), 7, replace=False)
        assert np.array_equal(bot(view(state)[few], rng), actions[few])
        single = int(few[0])
        assert np.array_equal(bot(view(state[single]), rng), actions[single : single + 1])


@pytest.mark.parametrize("name", STEADY)
def test_what_is_hidden_makes_no_difference(name):
    bot, rng = BOTS[name], np.random.default_rng(0)
    for state in decisions([bot], 60, 31, num_steps=30):
        again = resample_hidden(state, rng)
        assert np.array_equal(bot(view(again), rng), bot(view(state), rng))


@pytest.mark.parametrize("name", BOTS)
def test_the_view_stays_as_it_was(name):
    fields = [field.name for field in dataclasses.fields(View) if field.name != "rules"]
    computed = ["deadwood", "deadwood_after", "offered", "action_mask"]
    for state in decisions([BOTS[name]], 60, 37, num_steps=20):
        seen = view(state)
        before = {field: getattr(seen, field).copy() for field in fields + computed}
        BOTS[name](seen, np.random.default_rng(0))
        for field, array in before.items():
            np.testing.assert_array_equal(getattr(seen, field), array, err_msg=field)


@pytest.mark.parametrize("name", BOTS)
def test_nobody_acts_out_of_turn(name):
    state = engine.deal(np.random.default_rng(0), 50)
    assert np.all(BOTS[name](view(state, 1 - state.player), np.random.default_rng(0)) == -1)
    assert len(BOTS[name](view(state[:0]), np.random.default_rng(0))) == 0


def test_own_turns():
    assert [int(own_turn(position("As", turn=turn))[0]) for turn in (0, 1, 2, 3)] == [0, 0, 1, 1]
