"""The rules' numbers, the numbering of actions, and the settlement of hands."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from ginenv import melds, rules
from ginenv.rules import Phase, Result, Rules, settle
from tests import brute, reference
from tests.hands import layoff_rich_hand, meld_rich_hand

CASES = Path(__file__).parent / "cases"


def board(some_cards):
    return np.uint64(brute.bitboard(some_cards))


def settle_one(knocker, defender, **changes):
    """The settlement of one hand, as the brute force writes it; changes to the rules by name."""
    s = settle(np.array([board(knocker)]), np.array([board(defender)]), Rules(**changes))
    return brute.Settlement(
        Result(s.result[0]).name,
        int(s.points[0]),
        bool(s.knocker_wins[0]),
        int(s.knocker_deadwood[0]),
        int(s.defender_deadwood[0]),
    )


# Names and numbers


def test_phases_results_and_actions_are_numbered_as_documented():
    names = ["UPCARD", "FORCED_DRAW", "DRAW", "DISCARD", "OVER"]
    assert [(phase.name, phase.value) for phase in Phase] == list(zip(names, range(5), strict=True))
    names = ["NONE", "KNOCK", "GIN", "BIG_GIN", "UNDERCUT", "VOID"]
    assert [(result.name, result.value) for result in Result] == list(
        zip(names, range(6), strict=True)
    )
    assert (rules.DISCARD, rules.KNOCK, rules.DRAW_STOCK, rules.TAKE_PILE) == (0, 52, 104, 105)
    assert (rules.PASS, rules.DECLARE_BIG_GIN, rules.NUM_ACTIONS) == (106, 107, 108)


def test_the_reference_game_uses_the_same_numbers():
    for name in ("UPCARD", "FORCED_DRAW", "DRAW", "DISCARD", "OVER"):
        assert getattr(reference, name) == Phase[name]
    for name in ("KNOCK", "DRAW_STOCK", "TAKE_PILE", "PASS"):
        assert getattr(reference, name) == getattr(rules, name)
    assert reference.BIG_GIN == rules.DECLARE_BIG_GIN


STANDARD = {
    "knock_limit": 10,
    "gin_bonus": 25,
    "undercut_bonus": 25,
    "big_gin": True,
    "big_gin_bonus": 31,
    "stock_floor": 2,
    "target_score": 100,
    "max_turns": 100,
    "oklahoma": False,
    "oklahoma_faces_gin": False,
    "void_keeps_dealer": False,
}


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("standard", {}),
        ("no_big_gin", {"big_gin": False}),
        ("oklahoma", {"oklahoma": True}),
        ("oklahoma_faces", {"oklahoma": True, "oklahoma_faces_gin": True}),
        ("straight", {"knock_limit": 0}),
        ("eaai", {"big_gin": False, "void_keeps_dealer": True}),
    ],
)
def test_presets(name, changes):
    assert dataclasses.asdict(Rules.preset(name)) == STANDARD | changes


def test_the_defaults_are_the_standard_rules():
    assert Rules() == Rules.preset("standard")


def test_rules_do_not_change_and_can_be_a_key():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Rules().knock_limit = 5
    assert {Rules(): "standard"}[Rules()] == "standard"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("knock_limit", 0),
        ("gin_bonus", 20),
        ("undercut_bonus", 10),
        ("big_gin_bonus", 50),
        ("stock_floor", 0),
        ("target_score", None),
        ("target_score", 250),
        ("max_turns", 1),
    ],
)
def test_other_houses_numbers_are_allowed(field, value):
    assert getattr(Rules(**{field: value}), field) == value


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("knock_limit", -1),
        ("knock_limit", 3.5),
        ("knock_limit", True),
        ("gin_bonus", -25),
        ("undercut_bonus", "25"),
        ("big_gin_bonus", None),
        ("stock_floor", -1),
        ("stock_floor", 32),
        ("target_score", 0),
        ("target_score", "100"),
        ("max_turns", 0),
        ("big_gin", 1),
        ("oklahoma", "yes"),
        ("void_keeps_dealer", None),
    ],
)
def test_a_wrong_number_is_named_with_what_is_allowed(field, value):
    with pytest.raises((ValueError, TypeError)) as error:
        Rules(**{field: value})
    assert field in str(error.value)
    assert repr(value) in str(error.value)
    assert any(word in str(error.value) for word in ("lie in", "integer", "True or False"))


def test_gin_by_face_cards_is_a_part_of_oklahoma():
    with pytest.raises(ValueError, match=r"oklahoma_faces_gin.*oklahoma"):
        Rules(oklahoma_faces_gin=True)


@pytest.mark.parametrize("name", ["standrad", "Standard", "", "okla"])
def test_an_unknown_preset_is_answered_with_the_known_ones(name):
    with pytest.raises(ValueError) as error:
        Rules.preset(name)
    assert repr(name) in str(error.value)
    for known in ("standard", "no_big_gin", "oklahoma", "oklahoma_faces", "straight", "eaai"):
        assert known in str(error.value)


# The worked figures


def knocker_with(deadwood):
    """Three kings, three queens, three jacks and one loose card."""
    return brute.cards(f"Ks Kh Kd Qs Qh Qd Js Jh Jd {deadwood}s")


def defender_with(loose):
    """Seven cards in melds that lie far from the knocker's, and three loose ones."""
    return brute.cards("Ac 2c 3c 4c 7h 7d 7c " + loose)


def test_a_knock_with_6_against_15_scores_9():
    assert settle_one(knocker_with(6), defender_with("9s 5h Ad")) == ("KNOCK", 9, True, 6, 15)


def test_gin_against_15_scores_40():
    gin = brute.cards("Ks Kh Kd Qs Qh Qd Js Jh Jd Jc")
    assert settle_one(gin, defender_with("9s 5h Ad")) == ("GIN", 40, True, 0, 15)


def test_a_knock_with_8_against_5_is_an_undercut_of_28():
    assert settle_one(knocker_with(8), defender_with("2h 2d As")) == ("UNDERCUT", 28, False, 8, 5)


def test_a_tie_is_an_undercut_of_25():
    assert settle_one(knocker_with(8), defender_with("5s 2h Ad")) == ("UNDERCUT", 25, False, 8, 8)


def test_big_gin_scores_31_and_the_other_hand():
    big_gin = brute.cards("Ks Kh Kd Kc Qs Qh Qd Qc Js Jh Jd")
    assert settle_one(big_gin, defender_with("9s 5h Ad")) == ("BIG_GIN", 46, True, 0, 15)


def test_a_defender_who_lays_everything_off_undercuts_but_is_not_gin():
    defender = brute.cards("Ac 2c 3c 7s 7h 7d 7c Kc Qc Jc")
    assert settle_one(knocker_with(4), defender) == ("UNDERCUT", 29, False, 4, 0)


def test_nothing_is_laid_off_on_gin_or_big_gin():
    defender = brute.cards("Ac 2c 3c 7s 7h 7d 7c 5h 9s Kc")
    gin = brute.cards("Ks Kh Kd Qs Qh Qd Js Jh Jd Jc")
    assert settle_one(gin, defender) == ("GIN", 49, True, 0, 24)
    assert settle_one(gin | {brute.card("Qc")}, defender) == ("BIG_GIN", 55, True, 0, 24)


def test_the_bonuses_are_the_rules_to_say():
    house = {"gin_bonus": 20, "undercut_bonus": 10, "big_gin_bonus": 50}
    defender = defender_with("5s 2h Ad")
    gin = brute.cards("Ks Kh Kd Qs Qh Qd Js Jh Jd Jc")
    assert settle_one(knocker_with(8), defender, **house).points == 10
    assert settle_one(gin, defender, **house).points == 28
    assert settle_one(gin | {brute.card("Qc")}, defender, **house).points == 58


# Settlements of many hands


def whole_knocks_laid_by_our_rules():
    """The verified knocks between whole hands whose given melds are those of rule 7."""
    for line in (CASES / "knocks.jsonl").read_text().splitlines():
        case = json.loads(line)
        given = [brute.bitboard(brute.cards(" ".join(meld))) for meld in case["knocker_melds"]]
        if not case.get("partial"):
            hand = brute.cards(" ".join(case["knocker_cards"]))
            if sorted(given) == [int(meld) for meld in melds.best_melds(board(hand))]:
                yield case


def test_settlement_of_the_verified_knocks():
    compared = 0
    for case in whole_knocks_laid_by_our_rules():
        knocker = brute.cards(" ".join(case["knocker_cards"]))
        defender = brute.cards(" ".join(case["defender_cards"]))
        assert settle_one(knocker, defender) == (
            case["kind"].upper(),
            case["points"],
            case["winner"] == "knocker",
            case["knocker_deadwood"],
            case["defender_deadwood_after_layoffs"],
        ), case["id"]
        compared += 1
    assert compared > 50


def ended_hands(rng, count):
    """Low knocks, gins and big gins against defenders with much to lay off."""
    while count:
        knocker = meld_rich_hand(rng, int(rng.integers(10, 12)))
        limit = 10 if len(knocker) == 10 else 0
        if brute.least_deadwood(knocker) <= limit:
            table = brute.knockers_arrangement(knocker)
            yield knocker, layoff_rich_hand(rng, table, deck=brute.DECK - knocker)
            count -= 1


def assert_settled(hands, the_rules):
    boards = np.array([[board(hand) for hand in pair] for pair in hands])
    found = settle(boards[:, 0], boards[:, 1], the_rules)
    wanted = [brute.settle(*pair, the_rules) for pair in hands]
    for row, (pair, twin) in enumerate(zip(hands, wanted, strict=True)):
        story = " against ".join(map(brute.show, pair))
        assert Result(found.result[row]).name == twin.result, story
        for name in ("points", "knocker_wins", "knocker_deadwood", "defender_deadwood"):
            assert getattr(found, name)[row] == getattr(twin, name), f"{name}: {story}"
    return {settlement.result for settlement in wanted}


def test_settlement_against_brute_force():
    hands = list(ended_hands(np.random.default_rng(0), 1500))
    assert assert_settled(hands, Rules()) == {"KNOCK", "UNDERCUT", "GIN", "BIG_GIN"}


@pytest.mark.slow
def test_very_many_settlements_against_brute_force():
    hands = list(ended_hands(np.random.default_rng(1), 30_000))
    assert_settled(hands, Rules(gin_bonus=20, undercut_bonus=10, big_gin_bonus=50))


def test_settlement_has_the_documented_shapes_and_types():
    hands = list(ended_hands(np.random.default_rng(2), 5))
    boards = np.array([[board(hand) for hand in pair] for pair in hands])
    found = settle(boards[:, 0], boards[:, 1])
    types = {
        "result": np.int8,
        "points": np.int16,
        "knocker_wins": np.bool_,
        "knocker_deadwood": np.int16,
        "defender_deadwood": np.int16,
    }
    for name, dtype in types.items():
        assert getattr(found, name).dtype == dtype, name
        assert getattr(found, name).shape == (5,), name


def test_eleven_cards_with_a_loose_one_are_no_big_gin():
    all_but_an_ace = brute.cards("Ks Kh Kd Qs Qh Qd Js Jh Jd Jc As")
    with pytest.raises(ValueError, match="big gin"):
        settle_one(all_but_an_ace, defender_with("9s 5h Ad"))


def test_a_card_cannot_be_in_both_hands():
    with pytest.raises(ValueError, match="6s"):
        settle_one(knocker_with(6), defender_with("6s 5h Ad"))
