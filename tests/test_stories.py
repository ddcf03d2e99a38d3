"""Hands that tell the rules: who holds what, what happens, and why it counts as it does."""

import numpy as np
import pytest

from ginenv import cards, engine, melds
from ginenv.rules import Phase, Result, Rules
from tests import brute
from tests.story import (
    BIG_GIN,
    DEALER,
    DRAW,
    FIFTEEN,
    GIN,
    NINE_IN_MELDS,
    PASS,
    PLAYER,
    QUIET,
    QUIET_TOO,
    TAKE,
    Table,
    knock,
    throw,
    told,
)

# The first night


FIRST_NIGHT = "As 2s 3s 7d 7h 7c 5h 5c Jc Qd"


def test_first_night():
    """He takes the five of diamonds and knocks with the queen.

    A-2-3 of spades, three sevens, three fives: the jack is left, deadwood 10. The dealer's four
    of spades would go on A-2-3, but then five and six are loose or must follow: it stays in his
    own run. (The story tells nine of his cards; the tenth here is the last king.) Nothing lays
    off, 8 + 2 + 10 = 20 against 10: ten points.
    """
    table = Table(FIRST_NIGHT, "4s 5s 6s Kh Ks Kd Kc 8c 2h Td", "5d")
    outcome = table.play(TAKE, knock("Qd"))
    assert told(outcome) == ("KNOCK", PLAYER, [10, -10], [10, 20])

    nine_cards = cards.parse("4s 5s 6s Kh Ks Kd 8c 2h Td")
    knocker = np.array([cards.parse(m) for m in ("As 2s 3s", "5h 5d 5c", "7h 7d 7c")])
    own, laid, deadwood = melds.lay_out(knocker, nine_cards)
    assert {cards.show(meld) for meld in own} == {"4s 5s 6s", "Ks Kh Kd"}
    assert not any(laid)
    assert deadwood == 20


def test_first_night_with_the_dealer_at_8():
    """Only the eight of clubs is loose: an undercut, 10 - 8 + 25 = 27."""
    table = Table(FIRST_NIGHT, "4s 5s 6s 7s 8s Kh Ks Kd Kc 8c", "5d")
    outcome = table.play(TAKE, knock("Qd"))
    assert told(outcome) == ("UNDERCUT", PLAYER, [-27, 27], [10, 8])


def test_first_night_with_gin():
    """The fourth seven in place of the jack: nothing is left, 25 + 20 = 45."""
    table = Table(FIRST_NIGHT.replace("Jc", "7s"), "4s 5s 6s Kh Ks Kd Kc 8c 2h Td", "5d")
    outcome = table.play(TAKE, knock("Qd"))
    assert told(outcome) == ("GIN", PLAYER, [45, -45], [0, 20])


# The worked figures, played


@pytest.mark.parametrize(
    ("loose", "dealer", "told_as"),
    [
        ("6s", FIFTEEN, ("KNOCK", PLAYER, [9, -9], [6, 15])),
        ("Jc", FIFTEEN, ("GIN", PLAYER, [40, -40], [0, 15])),
        ("8s", "Ac 2c 3c 4c 7h 7d 7c 2h 2d As", ("UNDERCUT", PLAYER, [-28, 28], [8, 5])),
        ("8s", "Ac 2c 3c 4c 7h 7d 7c 5h 2h Ad", ("UNDERCUT", PLAYER, [-25, 25], [8, 8])),
    ],
    ids=["6 against 15", "gin against 15", "8 against 5", "a tie"],
)
def test_the_worked_figures(loose, dealer, told_as):
    """The player draws the three of diamonds from the stock and knocks with it."""
    table = Table(NINE_IN_MELDS + loose, dealer, "Td", "3d")
    assert told(table.play(PASS, PASS, DRAW, knock("3d"))) == told_as


# The upcard


def test_the_upcard_round_and_the_forced_draw():
    """Player, then dealer, may take the upcard; both pass: the player must draw from the stock."""
    table = Table(QUIET, QUIET_TOO, "8s", "8h 8d 8c")
    assert (table.to_move, table.legal) == ((PLAYER, Phase.UPCARD), {TAKE, PASS})
    table.play(PASS)
    assert (table.to_move, table.legal) == ((DEALER, Phase.UPCARD), {TAKE, PASS})
    table.play(PASS)
    assert (table.to_move, table.legal) == ((PLAYER, Phase.FORCED_DRAW), {DRAW})
    table.play(DRAW)
    assert table.to_move == (PLAYER, Phase.DISCARD)
    assert throw("8h") in table.legal, "the first card of the stock, drawn from it"
    table.play(throw("8h"))
    assert (table.to_move, table.legal) == ((DEALER, Phase.DRAW), {DRAW, TAKE})


def test_the_dealer_takes_the_upcard():
    """Then he discards, and the turn is the player's: no forced draw."""
    table = Table(QUIET, QUIET_TOO, "8s")
    table.play(PASS, TAKE)
    assert table.to_move == (DEALER, Phase.DISCARD)
    assert table.state.upcard[0] == -1, "the pile is empty"
    table.play(throw("Kc"))
    assert (table.to_move, table.legal) == ((PLAYER, Phase.DRAW), {DRAW, TAKE})


# The card just taken


def test_the_card_just_taken_from_the_pile_does_not_go_back():
    table = Table(QUIET, QUIET_TOO, "8s", "8h")
    table.play(TAKE)
    assert table.legal_throws == cards.show(cards.parse(QUIET)), "ten cards, not the eight"
    table.play(throw("Kd"))
    table.play(DRAW)
    assert throw("8h") in table.legal, "a card drawn from the stock may be thrown at once"
    table.play(throw("8h"), DRAW)
    assert throw("8s") in table.legal, "a turn later the eight is a card like any other"


def test_nor_is_it_the_knocking_discard():
    """Without the eight the hand is gin, yet he can only break a meld or keep it."""
    table = Table(GIN, FIFTEEN, "8d")
    table.play(TAKE)
    assert throw("8d") not in table.legal
    assert knock("8d") not in table.legal
    assert table.legal_knocks == "Js Jh Jd Jc", "a jack: three jacks stay, and 8 is deadwood"


def test_a_card_from_the_stock_may_be_the_knocking_discard():
    table = Table(GIN, FIFTEEN, "Td", "8d")
    table.play(PASS, PASS, DRAW)
    assert knock("8d") in table.legal
    assert told(table.play(knock("8d"))) == ("GIN", PLAYER, [40, -40], [0, 15])


# Knocking, gin and Big Gin


def test_eleven_points_are_too_many_to_knock():
    """Loose: 9 and 2, or 9 and ace. Throwing the nine leaves little; keeping it, 11 or 10."""
    table = Table("Ks Kh Kd Qs Qh Qd Js Jh 9c 2h", FIFTEEN, "Td", "Jc")
    table.play(PASS, PASS, DRAW)
    assert table.legal_knocks == "2h 9c", "9 or 2 stays; without a jack more than ten do"
    table = Table("Ks Kh Kd Qs Qh Qd Js Jh 9c 2h", FIFTEEN, "Td", "8h")
    table.play(PASS, PASS, DRAW)
    assert table.legal_knocks == ""


def test_the_knocking_discard_lies_face_down():
    """Nobody lays it off and nobody sees it: the pile stays as it was."""
    table = Table(NINE_IN_MELDS + "6s", FIFTEEN, "Td", "3d")
    table.play(PASS, PASS, DRAW, knock("3d"))
    assert table.state.upcard[0] == brute.card("Td")
    assert table.state.pile_size[0] == 1


def test_passing_up_gin():
    """He holds gin, throws a card all the same, and the game goes on."""
    table = Table(GIN, FIFTEEN, "Td", "8d 8h 8c")
    table.play(PASS, PASS, DRAW)
    assert knock("8d") in table.legal
    assert not table.play(throw("8d")).hand_over[0]
    table.play(DRAW, throw("8h"), DRAW)
    assert told(table.play(knock("8c"))) == ("GIN", PLAYER, [40, -40], [0, 15])


def test_big_gin():
    """Eleven cards in melds: four kings, four queens, three jacks. 31 + 15."""
    table = Table("Ks Kh Kd Kc Qs Qh Qd Qc Js Jh", FIFTEEN, "Jd")
    table.play(TAKE)
    assert BIG_GIN in table.legal
    assert told(table.play(BIG_GIN)) == ("BIG_GIN", PLAYER, [46, -46], [0, 15])


def test_big_gin_need_not_be_declared():
    """A king goes face down instead, ten cards in melds are gin: 25 + 15. Or the hand goes on."""
    table = Table("Ks Kh Kd Kc Qs Qh Qd Qc Js Jh", FIFTEEN, "Jd")
    table.play(TAKE)
    assert throw("Ks") in table.legal
    assert told(table.play(knock("Ks"))) == ("GIN", PLAYER, [40, -40], [0, 15])


def test_without_big_gin_eleven_cards_in_melds_are_gin():
    table = Table("Ks Kh Kd Kc Qs Qh Qd Qc Js Jh", FIFTEEN, "Jd", big_gin=False)
    table.play(TAKE)
    assert BIG_GIN not in table.legal
    assert told(table.play(knock("Ks"))) == ("GIN", PLAYER, [40, -40], [0, 15])


# Layoffs


def test_cards_are_laid_off_in_chains():
    """On 4-5-6 of spades goes the three and then the two: 8 + 2 are left, against 7."""
    table = Table("4s 5s 6s Kh Kd Kc Qh Qd Qc 7h", "2s 3s 9h 9d 9c Jh Jd Jc 8c 2d", "8s", "8h")
    outcome = table.play(PASS, PASS, DRAW, knock("8h"))
    assert told(outcome) == ("KNOCK", PLAYER, [3, -3], [7, 10])


def test_a_run_is_broken_where_its_cards_lie_better_on_the_knockers():
    """5-6-7 of spades and the red fives, against 8-9-10 of spades.

    Before layoffs he would hold the run: two fives and two twos loose, 14. With layoffs he breaks
    it: the seven and then the six go on the knocker's run, and the five makes three fives.
    """
    defender = "5s 6s 7s 5h 5d 9h 9d 9c 2h 2d"
    assert melds.deadwood(np.array([cards.parse(defender)])).tolist() == [14]
    table = Table("8s 9s Ts Kh Kd Kc Qh Qd Qc Ad", defender, "Td", "Th")
    outcome = table.play(PASS, PASS, DRAW, knock("Th"))
    assert told(outcome) == ("KNOCK", PLAYER, [3, -3], [1, 4])


def test_the_defender_who_lays_off_everything_is_not_gin():
    """0 against 4: an undercut, 4 + 25, never the bonus for gin."""
    table = Table(NINE_IN_MELDS + "4h", "Ac 2c 3c 7s 7h 7d 7c Kc Qc Jc", "Td", "3d")
    outcome = table.play(PASS, PASS, DRAW, knock("3d"))
    assert told(outcome) == ("UNDERCUT", PLAYER, [-29, 29], [4, 0])


# The end of the stock


def draw_and_throw(table, turns):
    """Each draws from the stock and throws that card at once."""
    for _ in range(turns):
        drawn = int(table.state.deck[0, table.state.stock_start[0]])
        outcome = table.play(DRAW, drawn)
    return outcome


def test_a_hand_is_void_with_two_cards_left_in_the_stock():
    """31 cards, 29 turns: the 29th ends the hand, and nobody scores."""
    table = Table(QUIET, QUIET_TOO, "8s")
    table.play(PASS, PASS)
    assert not draw_and_throw(table, 28).hand_over[0]
    assert 52 - table.state.stock_start[0] == 3
    outcome = draw_and_throw(table, 1)
    assert outcome.hand_over[0] and not outcome.match_over[0]
    assert told(outcome) == ("VOID", -1, [0, 0], [-1, -1])
    assert 52 - table.state.stock_start[0] == 2
    assert table.legal == set()


def test_who_draws_the_last_playable_card_may_still_knock():
    """With three cards left he draws one, and two are left; the test comes after his turn."""
    table = Table(GIN, FIFTEEN, "8s")
    table.play(PASS, PASS)
    draw_and_throw(table, 28)
    table.play(DRAW)
    assert 52 - table.state.stock_start[0] == 2
    last = int(table.state.deck[0, 49])
    assert told(table.play(52 + last)) == ("GIN", PLAYER, [40, -40], [0, 15])


def test_at_three_cards_the_top_of_the_pile_may_be_taken_and_the_hand_goes_on():
    """Taking from the pile leaves three in the stock, so the turn does not end the hand."""
    table = Table(QUIET, QUIET_TOO, "8s")
    table.play(PASS, PASS)
    draw_and_throw(table, 28)
    assert not table.play(TAKE, throw("Kd")).hand_over[0]
    assert draw_and_throw(table, 1).hand_over[0]


def test_taking_each_others_discards_ends_void_after_max_turns():
    """Six turns of both seats together; the two passes of the upcard are no turns."""
    table = Table(QUIET, QUIET_TOO, "8s", "8h", max_turns=6)
    table.play(PASS, PASS, DRAW, throw("Kd"))
    for word in ("Kc", "Jh", "Jd", "9s"):
        assert not table.play(TAKE, throw(word)).hand_over[0]
    outcome = table.play(TAKE, throw("9h"))
    assert told(outcome) == ("VOID", -1, [0, 0], [-1, -1])


# Oklahoma


@pytest.mark.parametrize(
    ("upcard", "limit", "limit_with_faces"),
    [("7s", 7, 7), ("2d", 2, 2), ("Th", 10, 10), ("Ac", 0, 0), ("Js", 10, 0), ("Kc", 10, 0)],
)
def test_oklahoma_the_upcard_sets_the_limit(upcard, limit, limit_with_faces):
    others = [c for c in range(52) if c != brute.card(upcard)]
    deck = np.array([*others[:20], brute.card(upcard), *others[20:]])[None]
    for preset, wanted in (("oklahoma", limit), ("oklahoma_faces", limit_with_faces)):
        state = engine.deal(None, 1, Rules.preset(preset), dealer=[DEALER], decks=deck)
        assert state.knock_limit.tolist() == [wanted]


def test_oklahoma_whatever_the_knock_limit_says():
    table = Table(NINE_IN_MELDS + "8s", FIFTEEN, "7s", "3d", oklahoma=True, knock_limit=10)
    table.play(PASS, PASS, DRAW)
    assert table.legal_knocks == "8s", "3 is within seven, 8 is not"
    table = Table(NINE_IN_MELDS + "8s", FIFTEEN, "9d", "3d", oklahoma=True, knock_limit=0)
    table.play(PASS, PASS, DRAW)
    assert table.legal_knocks == "8s 3d"


def test_oklahoma_gin_only_after_an_ace():
    table = Table(NINE_IN_MELDS + "2h", FIFTEEN.replace("Ad", "5d"), "Ad", "3d Jc", oklahoma=True)
    table.play(PASS, PASS, DRAW)
    assert table.legal_knocks == ""
    table.play(throw("3d"), TAKE, throw("9s"), DRAW)
    assert table.legal_knocks == "2h", "the fourth jack came: gin"


def test_straight_gin():
    table = Table(NINE_IN_MELDS + "Ah", FIFTEEN, "Td", "3d Jc", knock_limit=0)
    table.play(PASS, PASS, DRAW)
    assert table.legal_knocks == ""


# Matches


def test_a_match_ends_at_the_target_and_the_next_starts_anew():
    """Gin against 15 is 40; the seats take turns at it, and the third of one passes a hundred."""
    table = Table(GIN, FIFTEEN, "Td", "3d")
    outcomes, scores, dealers = [], [], []
    for _ in range(5):  # the same cards for the non-dealer, who is now one seat, now the other
        outcomes.append(table.play(PASS, PASS, DRAW, knock("3d")))
        scores.append(table.state.scores[0].tolist())
        dealers.append(table.state.dealer[0])
        table.redeal()
    assert scores == [[40, 0], [40, 40], [80, 40], [80, 80], [120, 80]]
    assert [bool(outcome.match_over[0]) for outcome in outcomes] == [False] * 4 + [True]
    assert dealers == [1, 0, 1, 0, 1], "the deal alternates"
    assert table.state.scores[0].tolist() == [0, 0]


def test_the_scores_stand_until_the_next_deal():
    table = Table(GIN, FIFTEEN, "Td", "3d", target_score=40)
    assert table.play(PASS, PASS, DRAW, knock("3d")).match_over[0], "40 is enough for 40"
    assert table.state.scores[0].tolist() == [40, 0]
    table.redeal()
    assert table.state.scores[0].tolist() == [0, 0]


def test_an_undercut_can_end_the_match_for_the_defender():
    dealer = "Ac 2c 3c 4c 7h 7d 7c 5h 2h Ad"
    table = Table(NINE_IN_MELDS + "8s", dealer, "Td", "3d", target_score=25)
    outcome = table.play(PASS, PASS, DRAW, knock("3d"))
    assert told(outcome) == ("UNDERCUT", PLAYER, [-25, 25], [8, 8])
    assert outcome.match_over[0]
    assert table.state.scores[0].tolist() == [0, 25]


def test_without_a_target_a_match_never_ends():
    table = Table(GIN, FIFTEEN, "Td", "3d", target_score=None)
    for _ in range(200):
        assert not table.play(PASS, PASS, DRAW, knock("3d")).match_over[0]
        table.redeal()
    assert table.state.scores[0].tolist() == [4000, 4000]


@pytest.mark.parametrize(("keeps", "next_dealer"), [(False, PLAYER), (True, DEALER)])
def test_the_deal_after_a_void_hand(keeps, next_dealer):
    """It alternates like any other, unless the rules say that a void hand keeps the dealer."""
    table = Table(GIN, FIFTEEN, "Td", "3d", max_turns=1, void_keeps_dealer=keeps)
    table.play(PASS, PASS, DRAW, throw("3d"))
    assert Result(table.state.result[0]) == Result.VOID
    table.redeal()
    assert table.state.dealer[0] == next_dealer
    table.play(PASS, PASS, DRAW, knock("3d"))
    table.redeal()
    assert table.state.dealer[0] == 1 - next_dealer, "after a hand that scores it alternates"
