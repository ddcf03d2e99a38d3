"""A played game as an animated GIF: ``python -m ginenv.film game.gif --seed 3``.

Needs the extra ``render``.  The players are names that `ginenv.opponents` knows; with ``--import
agents`` also the scripted bots, checkpoint files and outside programs::

    python -m ginenv.film game.gif --import agents --players crazy runs/mine/policy.pt --reveal
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ginenv import engine, opponents, streams, tabletop
from ginenv.adapter import AGENTS
from ginenv.opponents import Policy
from ginenv.rules import PRESETS, STANDARD, Phase, Rules
from ginenv.view import view

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["main", "play", "save"]


def play(
    players: tuple[Policy, Policy],
    seed: int,
    rules: Rules = STANDARD,
    viewer: int = 0,
    reveal: bool = False,
    names: tuple[str, str] = AGENTS,
) -> list[Image.Image]:
    """A picture before each decision of one hand, and one of its end.

    Args:
        players: who sits in each seat.
        seed: of the deal and of the players' random numbers.
        rules: of the hand.
        viewer: the seat whose knowledge is shown.
        reveal: whether both hands are.
        names: of the players, by seat.
    """
    from ginenv import picture  # says what to install if Pillow is missing

    from PIL import Image  # isort: skip

    def look() -> Image.Image:
        return Image.fromarray(picture.draw(tabletop.table(state, viewer, reveal, names)))

    rng, *spawned = np.random.default_rng(seed).spawn(3)
    own = [streams.for_players(stream) for stream in spawned]
    state = engine.deal(rng, 1, rules)
    pictures = [look()]
    while state.phase[0] != Phase.OVER:
        seat = state.player[0]
        engine.step(state, players[seat](view(state), own[seat]))
        pictures.append(look())
    return pictures


def save(pictures: Sequence[Image.Image], path: str | Path, seconds: float = 0.8) -> None:
    """Write pictures as a GIF that starts over after a while.

    Args:
        pictures: at least one.
        path: of the file.
        seconds: that each picture stays; the last stays five times as long.
    """
    from PIL.Image import Dither

    palette = pictures[0].quantize(256, kmeans=2)
    frames = [frame.quantize(palette=palette, dither=Dither.NONE) for frame in pictures]
    each = round(1000 * seconds)
    durations = [each] * (len(frames) - 1) + [5 * each]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=durations, loop=0)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m ginenv.film", description="Play one hand and write it as a GIF."
    )
    parser.add_argument("file", type=Path, help="where to write, for example game.gif")
    parser.add_argument("--players", nargs=2, default=["random", "random"], metavar="NAME")
    parser.add_argument("--import", dest="modules", nargs="*", default=[], metavar="MODULE")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rules", choices=list(PRESETS), default="standard")
    parser.add_argument("--viewer", type=int, choices=(0, 1), default=0, help="whose cards to show")
    parser.add_argument("--reveal", action="store_true", help="show both hands")
    parser.add_argument("--seconds", type=float, default=0.8, help="for each picture")
    args = parser.parse_args(arguments)
    try:
        if not args.file.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {args.file.parent} to write to")
        for module in args.modules:
            importlib.import_module(module)
        first, second = (opponents.resolve(name) for name in args.players)
        rules = Rules.preset(args.rules)
        pictures = play(
            (first, second), args.seed, rules, args.viewer, args.reveal, tuple(args.players)
        )
        save(pictures, args.file, args.seconds)
    except (ImportError, OSError, ValueError) as problem:
        print(f"{parser.prog}: {problem}", file=sys.stderr)
        return 2
    print(f"{args.file}: {len(pictures)} pictures, {args.file.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
