"""The shipped policy: it loads, it is small, and it beats every bot.

The bounds lie far below its card, ``agents/pretrained/README.md``: with these decks, which are
always the same, a policy as strong as the card says does not come near them.
"""

import dataclasses
import itertools
from pathlib import Path

import pytest

import agents
from agents import checkpoint, config, players
from agents.network import LearnedPolicy
from agents.training import network_config

PLACE = Path(agents.__file__).parent / "pretrained"
CONFIGS = Path(__file__).parent.parent / "configs"
PARTS = ("strong", "strong-2", "strong-3")


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


def test_each_part_of_its_recipe_begins_with_what_the_last_one_learned():
    parts = [config.load(CONFIGS / f"{name}.yaml", {}) for name in PARTS]
    for before, after in itertools.pairwise(parts):
        assert after.init == f"{before.run_dir}/latest.pt"
        assert network_config(after) == network_config(before)
    made = checkpoint.load(PLACE / "policy.pt")["config"]
    assert made == config.plain(dataclasses.replace(parts[-1], init="", run_dir=""))


def test_its_card_names_the_recipe_that_it_has():
    made = checkpoint.load(PLACE / "policy.pt")["config"]
    card = (PLACE / "README.md").read_text(encoding="utf-8")
    assert all(f"configs/{part}.yaml" in card for part in PARTS)
    assert f"{made['total_decisions'] // 10**6} million" in card
    assert f"seed {made['seed']}" in card
