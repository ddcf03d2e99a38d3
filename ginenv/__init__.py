"""Gin Rummy for reinforcement learning: a vectorised engine and environments over it.

Importing `ginenv` imports NumPy and Gymnasium, whose registry learns the id ``GinRummy-v0``.  The
environments are modules of their own: `ginenv.gin_rummy_v0` for PettingZoo, `ginenv.single` and
`ginenv.vector` for Gymnasium.
"""

from ginenv import cards, engine, melds, registration, rules, view
from ginenv.engine import Outcome, State, deal, legal_actions, redeal, step
from ginenv.rules import Phase, Result, Rules, Settlement, settle
from ginenv.view import View, encode, resample_hidden, split

__version__ = "0.1.0"

__all__ = [
    "Outcome",
    "Phase",
    "Result",
    "Rules",
    "Settlement",
    "State",
    "View",
    "cards",
    "deal",
    "encode",
    "engine",
    "legal_actions",
    "melds",
    "redeal",
    "resample_hidden",
    "rules",
    "settle",
    "split",
    "step",
    "view",
]

registration.register()
