"""Players of gin rummy: scripted bots, a PPO trainer, and the table where they meet.

Importing `agents` registers its players by name with `ginenv.opponents`.
"""

from functools import partial

from agents import scripted
from ginenv import opponents

for _name, _style in scripted.STYLES.items():
    opponents.register(_name, partial(scripted.Scripted, _style))
