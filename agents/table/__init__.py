"""The table at which a person plays: `python -m agents.play`.

From the bottom up: `faces` (cards as text), `levels` (who plays the other seat), `match` (the game
and what is recorded of it), `storage` (files that survive crashes), `arrangement` (how the person's
hand lies), `coach` (advice in numbers); then, with textual, `widgets`, `screens`, `seat` (the
table's screen) and `app`.
"""
