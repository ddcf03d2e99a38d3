"""Players of gin rummy: scripted bots, a PPO trainer, and the table where they meet.

Importing `agents` registers its players by name with `ginenv.opponents`, and with Gymnasium an id
for a game against each: ``gymnasium.make("agents:GinRummyCrazy-v0")``.
"""

from functools import partial
from pathlib import Path

from agents import scripted
from ginenv import opponents, registration
from ginenv.opponents import Policy

_PRETRAINED = Path(__file__).parent / "pretrained" / "policy.pt"
_OF_A_RUN = ("policy.pt", "best.pt", "latest.pt")  # as `run_log` names them; the first there plays

for _name, _style in scripted.STYLES.items():
    opponents.register(_name, partial(scripted.Scripted, _style))
    registration.register(f"GinRummy{_name.capitalize()}-v0", opponent=_name)


def _outside_program(spec: str) -> Policy:
    from agents import external  # only for those who need it

    return external.load(spec)


def _learned(spec: str | Path) -> Policy:
    from agents import checkpoint  # brings torch

    path = Path(spec)
    if path.is_dir():
        path = next(filter(Path.exists, (path / name for name in _OF_A_RUN)), path)
    return checkpoint.load_policy(path)


opponents.register("pretrained", partial(_learned, _PRETRAINED))
opponents.register_loader(lambda spec: spec.startswith("cmd:"), _outside_program)
opponents.register_loader(lambda spec: spec.endswith(".pt") or Path(spec).exists(), _learned)
