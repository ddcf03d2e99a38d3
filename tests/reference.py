"""The slow, obvious game: one table, Python lists and sets, one rule after the other.

The twin of `ginenv.engine` and `ginenv.view`, written from the rules alone. It keeps what each
seat knows as a person at the table would: by watching what is taken, thrown and left lying.
"""

from tests import brute

UPCARD, FORCED_DRAW, DRAW, DISCARD, OVER = range(5)

KNOCK, DRAW_STOCK, TAKE_PILE, PASS, BIG_GIN = 52, 104, 105, 106, 107


class ReferenceGame:
    """A match, one hand at a time; `redeal` starts the next hand."""

    def __init__(self, rules, deck, dealer):
        self.rules = rules
        self.scores = [0, 0]
        self.match_over = False
        self._deal(deck, dealer)

    def redeal(self, deck):
        """The next hand: the other seat deals, and after the end of a match the scores are 0."""
        if self.match_over:
            self.scores = [0, 0]
            self.match_over = False
        same_dealer = self.result == "VOID" and self.rules.void_keeps_dealer
        self._deal(deck, self.dealer if same_dealer else 1 - self.dealer)

    def _deal(self, deck, dealer):
        deck = [int(c) for c in deck]
        self.dealer = int(dealer)
        self.player = 1 - self.dealer
        self.hands = [set(), set()]
        for i in range(10):
            self.hands[1 - self.dealer].add(deck[2 * i])
            self.hands[self.dealer].add(deck[2 * i + 1])
        self.pile = [deck[20]]  # the last one is the top
        self.stock = deck[21:]  # the first one is drawn next
        self.phase = UPCARD
        self.turn = 0  # completed turns of both seats
        self.drawn = -1  # the card taken from the pile in this turn
        self.knock_limit = self._limit_of_the_hand(deck[20])
        self.known = [set(), set()]  # held by this seat, and the other one saw it being taken
        self.discarded = [set(), set()]  # all that this seat has thrown on the pile in this hand
        self.declined = [set(), set()]  # all that this seat could have taken and left lying
        self.result = "NONE"
        self.points = [0, 0]
        self.knocker = -1
        self.deadwood = [-1, -1]  # by seat, once a hand is settled

    def _limit_of_the_hand(self, upcard):
        if not self.rules.oklahoma:
            return self.rules.knock_limit
        is_ace, is_face = upcard % 13 == 0, upcard % 13 >= 10
        if is_ace or (is_face and self.rules.oklahoma_faces_gin):
            return 0
        return brute.points([upcard])

    @property
    def over(self):
        return self.phase == OVER

    # What may be done

    def legal(self):
        """The legal actions of the player to move, in ascending order."""
        if self.phase == UPCARD:
            return [TAKE_PILE, PASS]
        if self.phase == FORCED_DRAW:
            return [DRAW_STOCK]
        if self.phase == DRAW:
            return [DRAW_STOCK, TAKE_PILE]
        if self.phase == OVER:
            return []
        left = self.deadwood_after(self.player)
        knocks = [KNOCK + c for c, deadwood in left.items() if deadwood <= self.knock_limit]
        big_gin = [BIG_GIN] if self.rules.big_gin and self._deadwood(self.player) == 0 else []
        return sorted(left) + sorted(knocks) + big_gin

    def deadwood_after(self, seat):
        """{card: deadwood left after throwing it} for the cards that the seat to move may throw.

        Where the choice is to take the pile's top or not: as if it had been taken.
        """
        hand = frozenset(self.hands[seat])
        if seat != self.player or self.phase in (FORCED_DRAW, OVER):
            return {}
        if self.phase == DISCARD:
            taken = self.drawn
        else:
            taken = self.pile[-1]
            hand |= {taken}
        return {c: brute.least_deadwood(hand - {c}) for c in hand if c != taken}

    def _deadwood(self, seat):
        return brute.least_deadwood(frozenset(self.hands[seat]))

    # What happens then

    def step(self, action):
        """Plays one legal action."""
        assert action in self.legal(), f"{action} is not among {self.legal()}"
        if action == PASS:
            self._pass()
        elif action == DRAW_STOCK:
            self._draw_stock()
        elif action == TAKE_PILE:
            self._take_pile()
        elif action == BIG_GIN:
            self._settle()
        elif action >= KNOCK:
            self._throw(action - KNOCK)  # face down: it never reaches the pile
            self._settle()
        else:
            self._throw(action)
            self._discard(action)

    def _pass(self):
        self.declined[self.player].add(self.pile[-1])
        if self.player == self.dealer:
            self.phase = FORCED_DRAW
        self.player = 1 - self.player

    def _draw_stock(self):
        self.declined[self.player].add(self.pile[-1])
        self.hands[self.player].add(self.stock.pop(0))
        self.phase = DISCARD

    def _take_pile(self):
        self.drawn = self.pile.pop()
        self.hands[self.player].add(self.drawn)
        self.known[self.player].add(self.drawn)
        self.phase = DISCARD

    def _throw(self, card):
        self.hands[self.player].remove(card)
        self.known[self.player].discard(card)

    def _discard(self, card):
        self.pile.append(card)
        self.discarded[self.player].add(card)
        self._end_turn()
        if len(self.stock) <= self.rules.stock_floor or self.turn >= self.rules.max_turns:
            self.phase = OVER
            self.result = "VOID"
        else:
            self.phase = DRAW
            self.player = 1 - self.player

    def _end_turn(self):
        self.drawn = -1
        self.turn += 1

    def _settle(self):
        self._end_turn()
        knocker, defender = self.player, 1 - self.player
        settlement = brute.settle(
            frozenset(self.hands[knocker]), frozenset(self.hands[defender]), self.rules
        )
        winner = knocker if settlement.knocker_wins else defender
        self.phase = OVER
        self.result = settlement.result
        self.knocker = knocker
        self.deadwood[knocker] = settlement.knocker_deadwood
        self.deadwood[defender] = settlement.defender_deadwood
        self.points[winner] = settlement.points
        self.points[1 - winner] = -settlement.points
        self.scores[winner] += settlement.points
        target = self.rules.target_score
        self.match_over = target is not None and self.scores[winner] >= target

    # What a seat knows

    def knowledge(self, seat):
        """All that a seat may know while the hand is on, by the names of `ginenv.view.View`.

        Cards are sets of numbers; `pile` is what lies below the top.
        """
        other = 1 - seat
        seen = self.hands[seat] | set(self.pile) | self.known[other]
        to_move = seat == self.player and not self.over
        return {
            "hand": self.hands[seat],
            "upcard": self.pile[-1] if self.pile else -1,
            "pile": set(self.pile[:-1]),
            "opponent_known": self.known[other],
            "opponent_discards": self.discarded[other],
            "opponent_declined": self.declined[other],
            "known_to_opponent": self.known[seat],
            "own_discards": self.discarded[seat],
            "own_declined": self.declined[seat],
            "unseen": set(range(52)) - seen,
            "stock_size": len(self.stock),
            "phase": self.phase,
            "turn": self.turn,
            "drawn": self.drawn,
            "knock_limit": self.knock_limit,
            "scores": [self.scores[seat], self.scores[other]],
            "dealer": self.dealer,
            "seat": seat,
            "to_move": to_move,
            "action_mask": self.legal() if to_move else [],
            "deadwood": self._deadwood(seat),
            "deadwood_after": self.deadwood_after(seat),
        }
