"""What the engine answers to arguments that it cannot take: what is wrong, what is allowed."""

import gymnasium
import numpy as np
import pytest

from ginenv import cards, engine, melds, opponents, rules, view
from ginenv.rules import Rules
from ginenv.spaces import ActionBatch
from ginenv.vector import GinRummyVectorEnv

TEN = cards.parse("Ks Kh Kd Qs Qh Qd Js Jh Jd As")
OTHER_TEN = cards.parse("2c 3c 4c 7h 7d 7c 9s 5h Ad Tc")
NO_CARD_BIT = np.uint64(1 << 13)  # the lanes of a bitboard have 16 bits, a suit has 13 cards


def settle(knocker, defender):
    return rules.settle(np.array([knocker]), np.array([defender]))


REFUSALS = {
    "a name of no card": (lambda: cards.name(52), "52 is no card: cards are the integers 0 to 51"),
    "cards that are no text": (lambda: cards.parse(22), "parsed from a string such as '5s 6s 7s'"),
    "the text of no cards": (lambda: cards.show(NO_CARD_BIT), "0x2000 has bits that are no card"),
    "ids that are no integers": (lambda: cards.pack([1.5]), "integers 0 to 51, not float64"),
    "ids out of range": (lambda: cards.pack([3, 52]), "integers 0 to 51, got 3 to 52"),
    "a negative id": (lambda: cards.pack([-1, 5]), "integers 0 to 51, got -1 to 5"),
    "a negative hand": (lambda: melds.deadwood([-1]), r"bitboards \(uint64\), got int64"),
    "a hand of floats": (lambda: melds.deadwood([1.0]), r"bitboards \(uint64\), got float64"),
    "a hand of no cards": (lambda: melds.deadwood([NO_CARD_BIT]), "within cards.FULL_DECK"),
    "twelve cards": (lambda: melds.deadwood([0xFFF]), "at most 11 cards, got 12"),
    "layoffs on two melds": (
        lambda: melds.layoff(np.zeros((1, 2), np.uint64), np.array([OTHER_TEN])),
        r"melds \(M, 3\) and defenders \(M,\), got \(1, 2\) and \(1,\)",
    ),
    "layoffs of more hands": (
        lambda: melds.layoff(np.zeros((1, 3), np.uint64), np.array([OTHER_TEN, TEN])),
        r"got \(1, 3\) and \(2,\)",
    ),
    "four melds laid down": (lambda: melds.lay_out([7] * 4, OTHER_TEN), "at most 3 melds, got 4"),
    "one knocker and two defenders": (
        lambda: rules.settle(np.array([TEN]), np.array([OTHER_TEN, OTHER_TEN])),
        r"two arrays of hands \(M,\), got shapes \(1,\) and \(2,\)",
    ),
    "a hand that is no array": (lambda: rules.settle(TEN, OTHER_TEN), r"got shapes \(\) and \(\)"),
    "nine cards that knock": (
        lambda: settle(TEN & (TEN - np.uint64(1)), OTHER_TEN),
        "hand 0: the knocker has 9 cards, allowed is 10 or 11",
    ),
    "eleven cards that defend": (
        lambda: settle(TEN, OTHER_TEN | cards.parse("2s")),
        "hand 0: the defender has 11 cards, allowed is 10",
    ),
    "a name of no action": (lambda: rules.action_name(108), "actions are the integers 0 to 107"),
    "a word for no action": (lambda: rules.parse_action("resign"), "'discard Kd', 'knock Kd', 'dr"),
    "an action with no card": (lambda: rules.parse_action("knock Xd"), "'Xd'"),
    "no random numbers": (lambda: engine.deal(None, 1), "rng must be a numpy.random.Generator"),
    "the old random numbers": (lambda: engine.deal(7, 1), "numpy.random.Generator, got 7"),
    "rules by name": (lambda: engine.deal(rng(), 1, "oklahoma"), "must be a ginenv.Rules"),
    "half an observation": (
        lambda: view.split(np.zeros(300, np.uint8)),
        r"observations have 475 or 633 numbers, got \(300,\)",
    ),
    "a player that is none": (lambda: opponents.resolve(3), "a name or a policy"),
    "half a first reset": (
        lambda: GinRummyVectorEnv(2).reset(options={"reset_mask": np.array([True, False])}),
        "the first reset is of all games",
    ),
}


def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("what", REFUSALS)
def test_what_is_wrong_is_named_with_what_is_allowed(what):
    call, told = REFUSALS[what]
    with pytest.raises((ValueError, TypeError, gymnasium.error.ResetNeeded), match=told):
        call()


# The same functions, at the edge of what they do take


def test_actions_by_name_and_back():
    every = [rules.action_name(action) for action in range(rules.NUM_ACTIONS)]
    assert len(set(every)) == rules.NUM_ACTIONS
    assert [rules.parse_action(name) for name in every] == list(range(rules.NUM_ACTIONS))


def test_no_cards_have_no_bits():
    assert cards.pack(np.zeros((3, 0), dtype=int)).tolist() == [0, 0, 0]


def test_one_game_of_a_view():
    seen = view.view(engine.deal(rng(), 5))
    assert seen.deadwood_after.shape == (5, 52)
    one = seen[3]
    assert len(one) == 1
    assert one.hand == seen.hand[3:4]
    assert (one.deadwood_after == seen.deadwood_after[3:4]).all()


def test_actions_of_a_batch_within_given_masks():
    space = ActionBatch(3)
    masks = tuple(np.eye(rules.NUM_ACTIONS, dtype=np.int8)[place] for place in (4, 7, 107))
    assert space.sample(mask=masks).tolist() == [4, 7, 107]


def test_an_environment_that_is_not_to_be_drawn_draws_nothing():
    env = GinRummyVectorEnv(2, rules=Rules(target_score=None))
    env.reset(seed=0)
    assert env.render() is None
