"""The page about outside programs: its program plays, its transcript is what is said."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from agents import protocol
from agents.external import External
from agents.players import play, player
from ginenv.rules import Rules

PAGE = (Path(__file__).parent.parent / "docs" / "external-players.md").read_text()


@pytest.fixture
def my_bot(tmp_path):
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    path = tmp_path / "my_bot.py"
    path.write_text(program)
    with External(f"{sys.executable} {path}") as bot:
        yield bot


class Listener:
    """Plays as another does and writes down what is said about one game."""

    def __init__(self, bot, game):
        self.bot, self.game, self.said = bot, game, []

    def __call__(self, view, rng):
        actions = self.bot(view, rng)
        requests = protocol.decisions(view)
        answers = protocol.answers(requests, np.asarray(actions))
        for request, answer in zip(requests, answers, strict=True):
            if request["game"] == self.game:
                self.said += [(">", request), ("<", answer)]
        return actions

    def hand_over(self, view, ending):
        messages = protocol.endings(view, ending)
        self.said += [(">", message) for message in messages if message["game"] == self.game]


def test_the_transcript_is_what_is_said(my_bot):
    (transcript,) = re.findall(r"```\n(> .*?)```", PAGE, re.DOTALL)
    lines = [(line[0], json.loads(line[1:])) for line in transcript.splitlines()]
    listener = Listener(my_bot, game=1)
    play(listener, player("greedy"), num_pairs=1, seed=46)
    assert lines == [(">", protocol.hello(Rules())), *listener.said]


def test_the_program_plays_soundly(my_bot):
    tally = play(my_bot, player("random"), num_pairs=20, seed=1)
    assert tally.points_a_hand.low > 0


def test_every_field_is_described(my_bot):
    listener = Listener(my_bot, game=1)
    play(listener, player("greedy"), num_pairs=1, seed=46)
    for _, message in listener.said:
        for field in message:
            assert f"`{field}`" in PAGE
