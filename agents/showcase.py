"""How a policy plays at some moment of its training: a hand move by move, its knocks, figures.

A few hundred hands, played in a moment; `run_log.MetricLog` shows them in TensorBoard::

    shown = showcase(policy, "crazy", rules, seed=1)
    log.write(decisions, {**metrics, **shown.metrics})
    log.text("play/hand/crazy", shown.hand, decisions)
    log.figure("play/knock_rates/crazy", shown.knock_rates, decisions)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from agents import play_plots
from agents.play_statistics import PlayStatistics
from agents.players import Policy, play, player
from agents.sample_hands import sample_hands
from ginenv.replay import summary, tell
from ginenv.rules import STANDARD, Result, Rules

PAIRS = 200  # of hands: enough to see when it knocks, too few to tell how strong it is
NAME = "policy"  # what the hand and the figure call it


@dataclass(frozen=True)
class Showcase:
    """What is shown of a policy.

    Attributes:
        metrics: of `play_metrics`, named ``play/<metric>/<opponent>``.
        hand: one hand as lines of text, both players' cards drawn after every turn.
        knock_rates: the share of the policy's and of the opponent's chances to knock that they
            took, by own turn and deadwood.
    """

    metrics: dict[str, float]
    hand: str
    knock_rates: Figure


def showcase(
    policy: Policy,
    opponent: str,
    rules: Rules = STANDARD,
    seed: int = 0,
    num_pairs: int = PAIRS,
) -> Showcase:
    """Play some hands and tell of them.

    Args:
        policy: whose play to show.
        opponent: the name of the one it plays against.
        rules: of the hands.
        seed: decides the deals, so that the same deals show what a training changed.
        num_pairs: decks to play, each twice with the seats swapped; a further one gives the hand.

    Raises:
        ValueError: if nobody knows the opponent; names the nearest.
    """
    names, pair = (NAME, opponent), (policy, player(opponent))
    statistics = PlayStatistics(*names, rules)
    play(*pair, num_pairs, seed, rules, recorder=statistics, names=names)
    (record,) = sample_hands(pair, names, seed, rules, number=1, num_pairs=1)
    return Showcase(
        metrics={f"play/{name}/{opponent}": x for name, x in play_metrics(statistics).items()},
        hand="\n".join([summary(record), "", *tell(record)]),
        knock_rates=play_plots.knock_rates(statistics),
    )


def play_metrics(statistics: PlayStatistics) -> dict[str, float]:
    """How side 0 plays; a figure of something that never came up is left out.

    ``gin_rate``: share of the hands that it ends with gin or big gin.  ``undercut_rate``: share of
    the hands in which it undercuts its opponent.  ``knock_deadwood``: points, its mean deadwood at
    a knock, gin left out.  ``pile_pick_rate``: share of the pile cards that it could take, the
    first upcard among them, that it took.
    """
    won, hands = statistics.endings[0], max(statistics.hands, 1)
    found = {
        "gin_rate": float(won[Result.GIN] + won[Result.BIG_GIN]) / hands,
        "undercut_rate": float(won[Result.UNDERCUT]) / hands,
    }
    knocks = statistics.knocks[0].sum(axis=0)
    knocks[0] = 0  # gin and big gin
    if knocks.any():
        found["knock_deadwood"] = float(np.average(np.arange(len(knocks)), weights=knocks))
    declined, taken = statistics.ranks[0].sum(axis=0).tolist()
    if declined or taken:
        found["pile_pick_rate"] = taken / (declined + taken)
    return found
