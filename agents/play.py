"""Play against a policy in the terminal: ``python -m agents.play`` or ``gin-play``."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Sequence

from agents.command_line import Parser
from agents.table.levels import BOTS, Level, level
from ginenv.rules import PRESETS
from ginenv.scoresheet import PRESETS as SHEETS

_EPILOG = """\
The match is saved at every move and waits for you at its level.  Keys and mouse, and where the
files are: docs/playing.md

exit status: 0; 2 if the command line is wrong or there is no terminal; 130 after an interrupt
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Play as the command line says; the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    opponent = _checked_level(parser, options.level)
    coach = None if options.coach is None else _checked_level(parser, options.coach)
    _check_preset(parser, "--rules", options.rules, list(PRESETS))
    _check_preset(parser, "--scoring", options.scoring, list(SHEETS))
    try:
        import platformdirs

        from agents.table.app import GinApp, Options
        from agents.table.storage import Storage
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("textual", "platformdirs"):
            raise
        parser.exit(2, f"{parser.prog} needs {error.name}: pip install 'ginenv[play]'\n")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        parser.exit(2, f"{parser.prog} needs a terminal to play in\n")
    directory = options.data or platformdirs.user_data_dir("ginenv", appauthor=False)
    app = GinApp(
        Storage(directory),
        Options(opponent, coach, options.rules, options.scoring, options.seed, options.pace),
    )
    try:
        message = app.run()
    except KeyboardInterrupt:
        print(app.farewell())
        return 130
    if message:
        print(message)
    return app.return_code or 0


def _parser() -> Parser:
    parser = Parser(
        prog="gin-play",
        description="Play gin rummy in the terminal.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add(
        "--level",
        metavar="LEVEL",
        default="normal",
        help=f"the opponent: {', '.join(BOTS)}, or a checkpoint file (default normal)",
    )
    add(
        "--coach",
        metavar="LEVEL",
        help="who advises on the key h (default crazy, or the checkpoint that you play against)",
    )
    add(
        "--rules",
        metavar="PRESET",
        default="standard",
        help=f"of a new match: {', '.join(PRESETS)} (default standard)",
    )
    add(
        "--scoring",
        metavar="SHEET",
        default="hands",
        help=f"of a new match: {', '.join(SHEETS)} (default hands)",
    )
    add("--seed", type=_seed, metavar="N", help="decides the cards of a new match")
    add(
        "--pace",
        type=_pace,
        metavar="SECONDS",
        default=0.7,
        help="that the opponent takes for a move (default 0.7)",
    )
    add("--data", metavar="DIR", help="where matches and records are kept instead")
    return parser


def _seed(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of 0 or more")
    return int(text)


def _pace(text: str) -> float:
    try:
        pace = float(text)
    except ValueError:
        pace = -1.0
    if not (pace == 0 or 0.05 <= pace <= 10):  # very short timers may be skipped
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds, 0 or 0.05 to 10")
    return pace


def _checked_level(parser: Parser, text: str) -> Level:
    """A level whose policy can be had; a broken checkpoint is told here and not at the table."""
    try:
        chosen = level(text)
        _ = chosen.policy
    except (ValueError, OSError) as error:
        parser.error(" ".join(str(error).split()))
    return chosen


def _check_preset(parser: Parser, option: str, name: str, known: list[str]) -> None:
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f", did you mean {near[0]!r}?" if near else "."
        parser.error(f"unknown {option} {name!r}{hint} Known: {', '.join(known)}")


if __name__ == "__main__":
    sys.exit(main())
