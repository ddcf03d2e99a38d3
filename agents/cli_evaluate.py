"""The command line of the referee: ``python evaluate.py`` or ``gin-evaluate``."""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import difflib
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console

import ginenv
from agents import evaluation, report
from agents.command_line import Parser
from agents.evaluation import Comparison, Plan
from agents.external import ExternalError
from agents.html_report import PlayReport
from agents.players import BLOCK, Policy, player
from agents.progress import Display
from ginenv.record import Recorder
from ginenv.rules import PRESETS, Rules
from ginenv.scoresheet import PRESETS as SHEETS
from ginenv.scoresheet import Scoring

_DEFAULT_OPPONENTS = ("easy", "normal", "hard", "crazy")
_HANDS, _MOST_HANDS, _GAMES = 20_000, 1_000_000, 2_000
_FORMAT = 1  # of the JSON file; rises when a field changes its meaning or goes

_EPILOG = """\
a player is the name of a bot, a checkpoint file, the directory of a training run, or
'cmd:COMMAND', an outside program (docs/external-players.md)

examples:
  python evaluate.py crazy --opponent greedy --hands 20000
  python evaluate.py run.pt --json run.json --plot run.png
  python evaluate.py --round-robin easy normal hard crazy greedy patient --plot ladder.png
  python evaluate.py run.pt --opponent crazy --until 0.1 --games 0
  python evaluate.py run.pt --opponent crazy --report report.html
  python evaluate.py crazy --opponent 'cmd:python my_bot.py' --rules eaai

exit status: 0, 1 if an outside program failed or a result could not be written, 2 if the command
line is wrong, 130 after Ctrl-C, which prints what has been measured so far
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Evaluate as the command line says; the exit status."""
    parser = _parser()
    try:
        return _evaluate(parser, parser.parse_args(arguments))
    except KeyboardInterrupt:  # while nothing is played
        return 130
    except OSError as error:
        _say(Console(stderr=True), f"{parser.prog}: error: {error}")
        return 1


def _evaluate(parser: Parser, options: argparse.Namespace) -> int:
    names, pairings = _checked_pairings(parser, options)
    plan = _checked_plan(parser, options)
    if options.report and options.round_robin:
        parser.error("--report is about one POLICY: it does not go with --round-robin")
    for option in ("json", "csv", "plot", "record", "report"):
        _check_writable(parser, f"--{option}", getattr(options, option))
    policies = {name: _checked_player(parser, name, options) for name in names}
    notes = Console(stderr=True)
    page = PlayReport(plan, options.rules) if options.report else None
    status = 0
    try:
        _play(notes, options.record, plan, policies, pairings, page)
    except KeyboardInterrupt:
        _say(notes, f"{parser.prog}: interrupted; this is what has been measured so far")
        status = 130
    except (ExternalError, OSError) as error:
        _say(notes, f"{parser.prog}: error: {error}")
        status = 1
    _report(options, plan, names, pairings, status, page)
    return status


def _play(
    notes: Console,
    record: str | None,
    plan: Plan,
    policies: dict[str, Policy],
    pairings: list[Comparison],
    page: PlayReport | None,
) -> None:
    with contextlib.ExitStack() as closing:
        for policy in policies.values():
            if hasattr(policy, "close"):
                closing.callback(policy.close)
        recorder = None
        if record is not None:
            closing.enter_context(_naming(record))
            recorder = closing.enter_context(Recorder(record))
        display = closing.enter_context(
            Display(notes, len(pairings), plan.num_hands, plan.num_games)
        )
        for pairing in pairings:
            display.start(f"{pairing.player} against {pairing.opponent}")
            watching = recorder if page is None else page.watch(pairing, recorder)
            evaluation.measure(pairing, policies, plan, display.update, watching)
            if page is not None:
                page.pick_hands(policies)


def _parser() -> Parser:
    parser = Parser(
        prog="evaluate.py" if sys.argv[0].endswith("evaluate.py") else "gin-evaluate",
        description="Compare players of gin rummy over paired deals: each deck is played twice, "
        "with the seats swapped.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("player", metavar="POLICY", nargs="?", help="the player to evaluate")
    add(
        "--opponent",
        metavar="PLAYER",
        nargs="+",
        action="extend",
        help=f"against whom, one or more (default: {' '.join(_DEFAULT_OPPONENTS)})",
    )
    add(
        "--round-robin",
        metavar="PLAYER",
        nargs="+",
        help="instead of POLICY: each of these against each other, with ratings",
    )
    add(
        "--hands",
        type=_whole,
        metavar="N",
        help=f"hands for each pairing, half as many decks (default {_HANDS:,}; with --until the "
        f"most hands, default {_MOST_HANDS:,})",
    )
    add(
        "--games",
        type=_whole,
        metavar="N",
        default=_GAMES,
        help=f"matches to the target score for each pairing (default {_GAMES:,})",
    )
    add(
        "--until",
        type=_width,
        metavar="POINTS",
        help="play hands until the 95 %% interval of points a hand is ± POINTS or better",
    )
    add("--seed", type=_whole, metavar="N", default=0, help="of deals and players (default 0)")
    add(
        "--rules",
        metavar="PRESET",
        default="standard",
        help=f"one of {', '.join(PRESETS)} (default standard)",
    )
    add(
        "--scoring",
        metavar="SHEET",
        default="hands",
        help=f"the score sheet of the matches, one of {', '.join(SHEETS)} (default hands)",
    )
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--argmax",
        dest="sample",
        action="store_false",
        help="learned policies play their most probable action (the default)",
    )
    parser.set_defaults(sample=False)
    choice.add_argument(
        "--sample", action="store_true", help="learned policies draw from their distribution"
    )
    add(
        "--time-limit",
        type=_width,
        metavar="SECONDS",
        help="that an outside program may let pass without an answer (default 30)",
    )
    add("--json", metavar="FILE", help="write all figures as JSON")
    add("--csv", metavar="FILE", help="write all figures as CSV, a line for each comparison")
    add("--plot", metavar="FILE.png", help="draw them")
    add("--report", metavar="FILE.html", help="show how POLICY plays, as a page for a browser")
    add("--record", metavar="FILE", help="write every hand played as a line of JSON")
    return parser


def _whole(text: str) -> int:
    """A whole number, which may be written ``2e4`` or ``20_000``."""
    try:
        number = float(text) if "e" in text.lower() else int(text)
        if number < 0 or number != int(number):
            raise ValueError
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of 0 or more") from None
    return int(number)


def _width(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return number


def _checked_pairings(
    parser: Parser, options: argparse.Namespace
) -> tuple[list[str], list[Comparison]]:
    """Who takes part, each once, and who plays whom."""
    if options.round_robin is not None:
        names = list(options.round_robin)
        if options.player is not None or options.opponent:
            parser.error("--round-robin takes all the players itself: leave the others out")
        if len(names) < 2:
            parser.error("--round-robin needs two players or more")
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            parser.error(f"--round-robin names {twice[0]!r} twice")
        return names, evaluation.round_robin(names)
    if options.player is None:
        parser.error("name a POLICY to evaluate, or players after --round-robin")
    opponents = list(dict.fromkeys(options.opponent or _DEFAULT_OPPONENTS))
    names = list(dict.fromkeys([options.player, *opponents]))
    return names, [Comparison(options.player, opponent) for opponent in opponents]


def _checked_plan(parser: Parser, options: argparse.Namespace) -> Plan:
    if options.hands is None:
        options.hands = _HANDS if options.until is None else _MOST_HANDS
    for name in ("hands", "games"):
        if getattr(options, name) % 2:
            parser.error(
                f"--{name} must be even, as each deck is played twice, got {getattr(options, name)}"
            )
    if not options.hands and not options.games:
        parser.error("there is nothing to play: --hands and --games are both 0")
    if options.until is not None and options.hands < 4 * BLOCK:
        parser.error(f"--until needs room to play: --hands of {4 * BLOCK} or more")
    for option, name, known in (
        ("--rules", options.rules, list(PRESETS)),
        ("--scoring", options.scoring, list(SHEETS)),
    ):
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f", did you mean {near[0]!r}?" if near else "."
            parser.error(f"unknown {option} {name!r}{hint} Known: {', '.join(known)}")
    return Plan(
        num_hands=options.hands,
        num_games=options.games,
        seed=options.seed,
        rules=Rules.preset(options.rules),
        until=options.until,
        scoring=None if options.scoring == "hands" else Scoring.preset(options.scoring),
    )


def _checked_player(parser: Parser, name: str, options: argparse.Namespace) -> Policy:
    try:
        policy = player(name)
    except (ValueError, OSError) as error:
        parser.error(" ".join(str(error).split()))
    if hasattr(policy, "sampling"):
        policy = policy.sampling(options.sample)
    if options.time_limit is not None and hasattr(policy, "time_limit"):
        policy.time_limit = options.time_limit
    return policy


def _check_writable(parser: Parser, option: str, path: str | None) -> None:
    """Ends with an error now rather than after an hour of play."""
    if path is None:
        return
    if option == "--plot" and os.path.splitext(path)[1].lower() not in (".png", ".svg", ".pdf"):
        parser.error(f"--plot draws .png, .svg or .pdf files, got {path!r}")
    existed = os.path.exists(path)
    try:
        with open(path, "ab"):
            pass
        if not existed:
            os.remove(path)
    except OSError as error:
        parser.error(f"{option}: cannot write {path!r}: {error.strerror}")


def _report(
    options: argparse.Namespace,
    plan: Plan,
    names: list[str],
    pairings: list[Comparison],
    status: int,
    page: PlayReport | None,
) -> None:
    """Prints and writes what has been measured."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 100 + 16 * len(names)  # a file has no width: keep the tables whole
    pairings = [pairing for pairing in pairings if pairing.hands or pairing.games]
    if not pairings:
        return
    content = _content(options, plan, pairings, status)
    if options.round_robin is not None:
        content |= evaluation.standings(names, pairings)
        ranking = [row["player"] for row in content["ratings"]] or names
        report.show_round_robin(console, ranking, content["comparisons"], content["ratings"])
    else:
        report.show_comparisons(console, content["comparisons"])
    for pairing in pairings:
        hands = pairing.hands
        if plan.until is not None and hands and hands.points_a_hand.half_width > plan.until:
            _say(
                console,
                f"{pairing.player} against {pairing.opponent}: --until {plan.until:g} was not "
                f"reached in {hands.num_hands:,} hands",
            )
    _write_files(options, content, ranking if options.round_robin is not None else None, page)


def _content(
    options: argparse.Namespace, plan: Plan, pairings: list[Comparison], status: int
) -> dict[str, Any]:
    """What the JSON file holds."""
    return {
        "format": _FORMAT,
        "ginenv": ginenv.__version__,
        "date": dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds"),
        "complete": status == 0,
        "plan": {
            "hands": plan.num_hands,
            "games": plan.num_games,
            "until": plan.until,
            "seed": plan.seed,
            "sample": options.sample,
            "rules_name": options.rules,
            "rules": asdict(plan.rules),
            "scoring": options.scoring,
        },
        "comparisons": [evaluation.figures(pairing) for pairing in pairings],
    }


def _write_files(
    options: argparse.Namespace,
    content: dict[str, Any],
    ranking: list[str] | None,
    page: PlayReport | None,
) -> None:
    comparisons = content["comparisons"]
    if options.json:
        with _naming(options.json), open(options.json, "w", encoding="utf-8") as file:
            report.write_json(file, content)
    if options.csv:
        with _naming(options.csv), open(options.csv, "w", encoding="utf-8", newline="") as file:
            report.write_csv(file, comparisons)
    if page is not None:
        with _naming(options.report), open(options.report, "w", encoding="utf-8") as file:
            file.write(page.page())
    if options.plot:
        from agents import plots  # Matplotlib takes its time

        with _naming(options.plot):
            if ranking is not None:
                plots.draw_round_robin(options.plot, ranking, comparisons, content["ratings"])
            else:
                plots.draw_comparisons(options.plot, comparisons)


@contextlib.contextmanager
def _naming(path: str) -> Iterator[None]:
    """Errors of writing a file, such as a full disk, name it."""
    try:
        yield
    except OSError as error:
        raise OSError(f"cannot write {path!r}: {error.strerror}") from None


def _say(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)


if __name__ == "__main__":
    sys.exit(main())
