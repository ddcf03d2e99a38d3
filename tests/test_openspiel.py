"""Lockstep with OpenSpiel's ``gin_rummy``: the same decks, the same actions, the same scores.

Before every decision both games must have the same player to move, the same cards in his hand and
the same choices; deadwood must agree after every discard; a settled hand must score the same.
OpenSpiel differs in these points, and each is told apart from a fault:

* **A tie** after a knock is 0 : 0 there; here it is an undercut.
* **The card just taken** may be discarded there, and knocked with; here neither.
* **The wall.** When two cards are left in the stock, OpenSpiel asks the next player to knock with
  the upcard or pass; here the hand is void at once.  We pass.
* **Fifty draws from the pile** end a hand there, at the fiftieth; here turns of either kind count.
* **Denied knocks.** OpenSpiel allows a knock where its least deadwood of the *eleven* cards is
  within the limit.  That search now and then misses the best arrangement, and then it denies a
  knock that is legal; brute force has to agree with us where that happens.
* **Melds and layoffs** are laid by the players there, a meld of up to five cards at a time.  We lay
  what `ginenv.melds` says, the longer runs in parts.
* **Big gin** does not exist there, so it is left out here.
"""

from collections import Counter

import numpy as np
import pytest

from ginenv import cards, engine, melds
from ginenv.rules import DRAW_STOCK, KNOCK, NO_ACTION, PASS, TAKE_PILE, Phase, Result, Rules
from ginenv.view import view
from tests import brute
from tests.hands import rich_deck
from tests.players import greedy, knocks_at_once, never_knocks, plays_at_random

pytestmark = pytest.mark.peers

HOUSES = {
    "standard": (Rules(big_gin=False), {}),
    "straight": (Rules(big_gin=False, knock_limit=0), {"knock_card": 0}),
    "oklahoma": (Rules(big_gin=False, oklahoma=True), {"oklahoma": True}),
    "other bonuses": (
        Rules(big_gin=False, knock_limit=7, gin_bonus=20, undercut_bonus=10),
        {"knock_card": 7, "gin_bonus": 20, "undercut_bonus": 10},
    ),
}


def always_knocks(seen, rng):
    """Collects melds, and knocks as soon as it may, with any card that allows it."""
    ends = seen.action_mask[:, KNOCK:DRAW_STOCK].any(axis=1)
    return np.where(ends, knocks_at_once(seen, rng), never_knocks(seen, rng))


STYLES = {"random": plays_at_random, "greedy": greedy, "always knocking": always_knocks}

# OpenSpiel's actions; its cards are numbered by suit, too, but with the suits in another order.
UP, STOCK, PASSES, KNOCKS, FIRST_MELD = 52, 53, 54, 55, 56
ITS_CARD = {
    cards.card(r + s): 13 * i + j for i, s in enumerate("scdh") for j, r in enumerate(cards.RANKS)
}
OUR_CARD = {its: ours for ours, its in ITS_CARD.items()}


class Peer:
    """One hand in OpenSpiel, spoken to in our actions.

    Attributes:
        over: why the comparison of this hand has ended; None as long as it goes on.
    """

    def __init__(self, first, meld_action, deck, dealer):
        self.state = first.clone()
        self.meld_action = meld_action
        self.deck, self.dealer = deck, dealer
        for card in [*deck[0:20:2], *deck[1:20:2], deck[20]]:
            self.state.apply_action(ITS_CARD[card])
        self.next_card = 21
        self.over = None

    def seat(self):
        """Who is to move: the first player there is who does not deal here."""
        return self.state.current_player() ^ 1 ^ self.dealer

    def legal(self, drawn):
        """Its legal actions as a set of ours, less the card just taken."""
        its = self.state.legal_actions()
        ours = {OUR_CARD[action] for action in its if action < 52} - {drawn}
        ours |= {names for action, names in DRAWS.items() if action in its}
        if KNOCKS in its:
            knocked = self.state.clone()
            knocked.apply_action(KNOCKS)
            thrown = {OUR_CARD[action] for action in knocked.legal_actions()} - {drawn}
            ours |= {KNOCK + card for card in thrown}
        return ours

    def may_knock(self):
        return KNOCKS in self.state.legal_actions()

    def play(self, action):
        """Anything but a knock."""
        if action == TAKE_PILE:
            self.state.apply_action(UP)
            if self.state.is_terminal():
                self.over = "fifty draws from the pile"
        elif action == DRAW_STOCK:
            self.state.apply_action(STOCK)
            self.state.apply_action(ITS_CARD[self.deck[self.next_card]])
            self.next_card += 1
        elif action == PASS:
            self.state.apply_action(PASSES)
        else:
            self.state.apply_action(ITS_CARD[action])

    def knock(self, card, knocker, defender, gin):
        """Knocks, and lays both hands down as our rules settle them."""
        self.state.apply_action(KNOCKS)
        self.state.apply_action(ITS_CARD[card])
        down = melds.best_melds(knocker)
        self._lay(down)
        own, laid, _ = melds.lay_out(down, defender)
        if gin:
            own, laid = melds.best_melds(defender), ()
        else:
            self._lay_off({ITS_CARD[c] for some in laid for c in cards.ids(some)})
        self._lay(own)

    def _lay(self, some_melds):
        for meld in some_melds:
            for part in parts(cards.ids(meld)):
                self.state.apply_action(self.meld_action[int(cards.pack(part))])
        self.state.apply_action(PASSES)

    def _lay_off(self, loose):
        while loose:
            possible = loose & set(self.state.legal_actions())
            assert possible, "OpenSpiel does not let these cards be laid off"
            for card in possible:
                self.state.apply_action(card)
            loose -= possible
        self.state.apply_action(PASSES)

    def points(self):
        """Points by seat."""
        gains = [int(points) for points in self.state.returns()]
        return gains if self.dealer == 1 else gains[::-1]

    def deadwood(self):
        """Deadwood of both hands by seat, as it tells it."""
        told = str(self.state).split("Deadwood=")[1:]
        found = [int(text.split()[0]) for text in told]
        return found if self.dealer == 1 else found[::-1]


DRAWS = {UP: TAKE_PILE, STOCK: DRAW_STOCK, PASSES: PASS}


def parts(meld):
    """A long run in pieces of three to five cards."""
    if len(meld) <= 5:
        return [meld]
    size = 5 if len(meld) >= 8 else 3
    return [meld[:size], *parts(meld[size:])]


def meld_actions(state):
    """Its action for each meld, by the meld's bitboard."""
    found = {}
    for action in range(FIRST_MELD, 241):
        text = state.action_to_string(0, action).split()[-1]
        names = [text[i : i + 2] for i in range(0, len(text), 2)]
        found[int(cards.pack([cards.card(name) for name in names]))] = action
    return found


def compare(rules, parameters, style, num_hands, seed, decks="shuffled", num_games=256):
    """Plays hands side by side; gives how often each known difference and each result came."""
    pyspiel = pytest.importorskip("pyspiel")
    first = pyspiel.load_game("gin_rummy", parameters).new_initial_state()
    melds_there = meld_actions(first)
    assert len(melds_there) == 185  # 65 sets, 120 runs of three to five
    rng = np.random.default_rng(seed)
    seen_of = Counter()
    while (left := num_hands - seen_of["hands"]) > 0:
        games = min(left, num_games)
        rich = np.array([rich_deck(rng) for _ in range(games)]) if decks == "rich" else None
        state = engine.deal(rng, games, rules, decks=rich)
        peers = [
            Peer(first, melds_there, deck.tolist(), int(dealer))
            for deck, dealer in zip(state.deck, state.dealer, strict=True)
        ]
        play_side_by_side(state, peers, style, rng, seen_of)
        seen_of["hands"] += games
    return seen_of


def play_side_by_side(state, peers, style, rng, seen_of):
    """One hand in each game, until it has ended in either."""
    while rows := [row for row, peer in enumerate(peers) if not peer.over]:
        seen = view(state)
        actions = np.where(seen.to_move, style(seen, rng), NO_ACTION)
        for row in rows:
            peer, action = peers[row], int(actions[row])
            agree_before(state, row, peer, seen.action_mask[row], seen_of)
            if not is_knock(action):
                peer.play(action)
            elif not peer.may_knock():
                peer.over = "denied knocks"
        outcome = engine.step(state, actions)
        for row in rows:
            peer, action = peers[row], int(actions[row])
            if not peer.over and is_knock(action):
                knocker = outcome.knocker[row]
                hands = state.hands[row, knocker], state.hands[row, 1 - knocker]
                peer.knock(action - KNOCK, *hands, outcome.result[row] == Result.GIN)
            if not peer.over:
                agree_after(state, outcome, row, peer, seen_of)
            if peer.over:
                seen_of[peer.over] += 1


def is_knock(action):
    return KNOCK <= action < DRAW_STOCK


def agree_before(state, row, peer, mask, seen_of):
    """The same player and choices before a decision."""
    assert peer.seat() == state.player[row]
    legal = set(np.flatnonzero(mask).tolist())
    theirs = peer.legal(int(state.drawn[row]))
    if legal == theirs:
        return
    # The only difference there may be: knocks that it denies.
    assert legal > theirs, (legal, theirs)
    denied = legal - theirs
    assert all(map(is_knock, denied)), denied
    hand = frozenset(cards.ids(state.hands[row, state.player[row]]))
    for action in denied:
        assert brute.least_deadwood(hand - {action - KNOCK}) <= state.knock_limit[row]
    seen_of["positions with denied knocks"] += 1


def agree_after(state, outcome, row, peer, seen_of):
    """The same deadwood after a discard, and the same score at the end."""
    result = Result(outcome.result[row])
    ours = outcome.points[row].tolist()
    if result == Result.NONE:
        if state.phase[row] == Phase.DRAW and state.turn[row] % 4 == row % 4:  # it takes its time
            assert peer.deadwood() == melds.deadwood(state.hands[row]).tolist()
        return
    if result == Result.VOID:
        assert PASSES in peer.state.legal_actions(), "OpenSpiel has not reached the wall"
        peer.play(PASS)
        assert peer.points() == ours == [0, 0]
    elif result == Result.UNDERCUT and outcome.deadwood[row, 0] == outcome.deadwood[row, 1]:
        assert peer.points() == [0, 0]
        seen_of["ties"] += 1
    else:
        assert peer.points() == ours
    assert peer.state.is_terminal()
    peer.over = result.name


def assert_agreement(house, style, decks, num_hands, seed):
    """Plays, and hardly a hand may be lost to the differences."""
    rules, parameters = HOUSES[house]
    seen_of = compare(rules, parameters, STYLES[style], num_hands, seed, decks)
    assert seen_of["hands"] == num_hands
    lost = seen_of["denied knocks"] + seen_of["fifty draws from the pile"]
    print(dict(seen_of))
    assert lost <= num_hands // 10, seen_of


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("decks", ["shuffled", "rich"])
def test_a_few_hands_agree_with_openspiel(style, decks):
    assert_agreement("standard", style, decks, num_hands=50, seed=1)


@pytest.mark.parametrize("house", HOUSES)
def test_houses_agree_with_openspiel(house):
    assert_agreement(house, "greedy", "shuffled", num_hands=50, seed=2)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("decks", ["shuffled", "rich"])
def test_twenty_thousand_hands_agree_with_openspiel(style, decks):
    num_hands = 5000 if decks == "shuffled" else 1700
    assert_agreement("standard", style, decks, num_hands, seed=3)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("house", list(HOUSES)[1:])
def test_many_hands_of_other_houses_agree_with_openspiel(house, style):
    assert_agreement(house, style, "rich", num_hands=500, seed=4)
