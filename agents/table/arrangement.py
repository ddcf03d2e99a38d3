"""How the person's hand lies on the table: sorted for him, or as he laid it.

Sorted, each meld lies on a tray of its own and the loose cards follow by rank.  Once a card has
been moved by hand, the order is the person's until he asks to have it sorted again; neighbours that
belong to one meld still lie on a tray.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from agents.table.faces import by_rank
from ginenv import cards, melds


@dataclass(frozen=True)
class Group:
    """Cards that lie together: a meld on its tray, or loose ones."""

    cards: tuple[int, ...]
    is_meld: bool


@dataclass
class Arrangement:
    """The order of the hand.

    Attributes:
        order: the cards from left to right.
        by_hand: whether the person laid them so.
    """

    order: list[int] = field(default_factory=list)
    by_hand: bool = False
    _melds: tuple[int, ...] = ()

    def update(self, hand: int) -> None:
        """Follow a new hand, a bitboard: gone cards leave, a new one comes last or is sorted in."""
        self._melds = tuple(int(meld) for meld in melds.best_melds(hand))
        if self.by_hand:
            held = cards.ids(hand)
            kept = [card for card in self.order if card in held]
            self.order = kept + [card for card in held if card not in kept]
        else:
            self.order = [card for meld in self._melds for card in cards.ids(meld)]
            self.order += by_rank(hand & ~sum(self._melds))

    def sort(self) -> None:
        """Sort the hand again."""
        self.by_hand = False
        self.update(int(cards.pack(self.order)) if self.order else 0)

    def move(self, card: int, place: int) -> None:
        """Lay a card at a place of the row; the others close up."""
        self.by_hand = True
        self.order.remove(card)
        self.order.insert(max(0, min(place, len(self.order))), card)

    def groups(self) -> list[Group]:
        """The row from left to right, cut into trays and stretches of loose cards."""
        found: list[tuple[int, list[int]]] = []
        for card in self.order:
            bit = int(cards.CARD_BIT[card])
            meld = next((meld for meld in self._melds if meld & bit), 0)
            if found and found[-1][0] == meld:
                found[-1][1].append(card)
            else:
                found.append((meld, [card]))
        return [Group(tuple(some), meld != 0 and len(some) > 2) for meld, some in found]
