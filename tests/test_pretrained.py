"""The shipped policy: it loads, it is small, and it beats every bot.

The bounds lie far below its card, ``agents/pretrained/README.md``: with these decks, which are
always the same, a policy as strong as the card says does not come near them.
"""

from pathlib import Path

import pytest

import agents
from agents import checkpoint, players
from agents.network import LearnedPolicy

PLACE = Path(agents.__file__).parent / "pretrained"


@pytest.mark.parametrize(
    ("opponent", "at_least"),
    [("crazy", 1.2), ("hard", 2.4), ("patient", 7.5), ("greedy", 5.8), ("normal", 6.5)],
)
def test_it_beats_every_bot(opponent, at_least):
    policy = players.player("pretrained")
    points = players.play(policy, players.player(opponent), 2000, seed=3).points_a_hand
    assert points.mean - points.half_width > 0
    assert points.mean > at_least


def test_it_is_small_and_a_policy_and_nothing_more():
    path = PLACE / "policy.pt"
    assert path.stat().st_size < 4e6
    content = checkpoint.load(path)
    assert content.keys() >= {"network", "network_config", "config", "precision"}
    assert "optimizer" not in content and "ranks" not in content
    assert isinstance(players.player("pretrained"), LearnedPolicy)


def test_its_card_names_the_recipe_that_it_has():
    config = checkpoint.load(PLACE / "policy.pt")["config"]
    card = (PLACE / "README.md").read_text(encoding="utf-8")
    assert "configs/strong.yaml" in card and "configs/finish.yaml" in card
    assert f"{config['total_decisions'] // 10**6} million" in card
    assert f"seed {config['seed']}" in card
