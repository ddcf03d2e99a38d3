"""An outside program at our table, and our policies at another's.

`External` is a policy that asks a subprocess over its standard input and output, one JSON object a
line (`agents.protocol`); ``cmd:python my_bot.py`` names one wherever a player is named.  One
process plays any number of games at once.  Whatever it does, it cannot make this side wait for
ever: threads of their own write to it and read from it, lines and queues are bounded, every answer
has a time limit, and the process is always ended.

``python -m agents.external crazy`` is the other end: it serves any of our policies.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import queue
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import weakref
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from agents import protocol, protocol_reading
from agents.players import Ending, Policy, player
from agents.protocol import Message
from agents.protocol_reading import LONGEST_LINE, BadAnswer
from ginenv.rules import NO_ACTION, Rules
from ginenv.view import View

PREFIX = "cmd:"
TIME_LIMIT = 30.0  # seconds without any answer; its start counts, too
_LARGEST_BATCH = 100_000  # requests that `serve` collects before it decides
_QUEUED_LINES = 1024  # answers read ahead; beyond them the program has to wait
_GRACE = 2.0  # seconds to exit by itself once its input is closed
_SHOWN = 600  # characters of a request or an answer in an error


class ExternalError(RuntimeError):
    """An outside program that hung, died or answered nonsense.

    Attributes:
        game: the game that it was asked about; None if it is not known which.
        request: what it was asked.
        answer: the line that it wrote; None if there was none.
    """

    def __init__(
        self, text: str, game: int | None, request: Message | None, answer: str | None
    ) -> None:
        self.game, self.request, self.answer = game, request, answer
        parts = [text]
        if request is not None:
            parts.append(f"request: {_shortened(json.dumps(request))}")
        if answer is not None:
            parts.append(f"answer: {_shortened(answer)}")
        super().__init__("; ".join(parts))


class External:
    """A program as a policy.  It is started at the first decision and again after `close`.

    Attributes:
        command: what to run, as one would type it; no shell reads it.
        time_limit: seconds that the program may let pass without answering anything it was asked.
    """

    def __init__(self, command: str, time_limit: float = TIME_LIMIT) -> None:
        """Take note of the command.

        Raises:
            ValueError: if it is empty, is quoted wrongly or names no program that can be found.
        """
        if not time_limit > 0:
            raise ValueError(f"time_limit must be above 0 seconds, got {time_limit}")
        try:
            self._words = shlex.split(command, posix=os.name != "nt")
        except ValueError as error:
            raise ValueError(f"cannot read the command {command!r}: {error}") from None
        if not self._words:
            raise ValueError(f"{PREFIX} needs a command after it, as in '{PREFIX}python my_bot.py'")
        if shutil.which(self._words[0]) is None:
            raise ValueError(f"cannot run {command!r}: there is no program {self._words[0]!r}")
        self.command, self.time_limit = command, time_limit
        self._process: _Process | None = None
        self._rules: Rules | None = None

    def __call__(self, view: View, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Ask about M rows at once, and wait for all the answers, in whatever order they come.

        Raises:
            ExternalError: if the program does not give a legal action for each in time.
        """
        actions = np.full(len(view), NO_ACTION, dtype=np.int64)
        rows = np.flatnonzero(view.to_move)
        requests = protocol.decisions(view[rows])
        row_of = {r["game"]: int(row) for row, r in zip(rows, requests, strict=True)}
        unanswered = {request["game"]: request for request in requests}
        if len(unanswered) < len(requests):
            raise ValueError("an outside program needs different game ids in all rows of a batch")
        try:
            process = self._running(view.rules)
            process.send(requests)
            while unanswered:
                game, action = self._next_answer(process, unanswered)
                actions[row_of[game]] = action
                del unanswered[game]
        except BaseException:
            self.close(grace=0.0)
            raise
        return actions

    def hand_over(self, view: View, ending: Ending) -> None:
        """Tell the program how hands ended."""
        if self._process is not None:
            self._process.send(protocol.endings(view, ending))

    def close(self, grace: float = _GRACE) -> None:
        """End the process: at its own pace for some seconds, then by force."""
        if self._process is not None:
            self._process.end(grace)
            self._process = None

    def __enter__(self) -> External:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _running(self, rules: Rules) -> _Process:
        if self._process is None:
            self._process = _Process(self, self._words, self.command)
            self._rules = None
        if rules != self._rules:
            self._process.send([protocol.hello(rules)])
            self._rules = rules
        return self._process

    def _next_answer(self, process: _Process, unanswered: dict[int, Message]) -> tuple[int, int]:
        """The game and action of the next line; an `ExternalError` if it has no good ones."""
        oldest = next(iter(unanswered))

        def fail(what: str, answer: str | None = None, game: int = oldest) -> ExternalError:
            text = f"{self.command!r} {what} (asked about game {game})"
            return ExternalError(text, game, unanswered[game], answer)

        try:
            line = process.lines.get(timeout=self.time_limit)
        except queue.Empty:
            raise fail(f"gave no answer within {self.time_limit:g} seconds") from None
        if line is None:
            raise fail(f"{process.obituary()}")
        try:
            return protocol_reading.read_answer(line, unanswered)
        except BadAnswer as bad:
            text = line.decode("utf-8", errors="replace").strip()
            raise fail(str(bad), text, oldest if bad.game is None else bad.game) from None


class _Process:
    """A running program, the threads that talk to it, and its certain end."""

    def __init__(self, owner: object, words: list[str], command: str) -> None:
        try:
            process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=os.name != "nt",  # Ctrl-C is for us; what it starts ends with it
            )
        except OSError as error:
            raise ExternalError(f"cannot run {command!r}: {error}", None, None, None) from None
        assert process.stdin and process.stdout and process.stderr
        self._process = process
        self.lines: queue.Queue[bytes | None] = queue.Queue(_QUEUED_LINES)
        self._messages: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._complaints: collections.deque[bytes] = collections.deque(maxlen=20)
        self._ending = threading.Event()
        talks: list[tuple[Any, ...]] = [
            (_write, process.stdin, self._messages),
            (_read, process.stdout, self.lines, self._ending),
            (_drain, process.stderr, self._complaints),
        ]
        self._threads = [
            threading.Thread(target=work, args=args, daemon=True) for work, *args in talks
        ]
        for thread in self._threads:
            thread.start()
        # Ends it with its owner and, at the latest, with the interpreter.
        self._finalizer = weakref.finalize(
            owner, _end, process, self._messages, self._ending, self._threads, _GRACE
        )

    def send(self, messages: list[Message]) -> None:
        """Hand messages over to be written; never waits."""
        self._messages.put(protocol.lines(messages))

    def obituary(self) -> str:
        """How the program ended, and the last that it had to say."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1.0)
        self._threads[2].join(timeout=1.0)
        code = self._process.poll()
        how = "closed its output" if code is None else f"ended with exit status {code}"
        last = b"".join(self._complaints).decode("utf-8", errors="replace").strip().splitlines()
        return f"{how} (its last words: {_shortened(last[-1])})" if last else how

    def end(self, grace: float) -> None:
        """Close its input, wait, and kill what is left."""
        if self._finalizer.detach():
            _end(self._process, self._messages, self._ending, self._threads, grace)


def _write(stream: IO[bytes], messages: queue.SimpleQueue[bytes | None]) -> None:
    """Writes what comes until the end marker; a program that does not listen is no error here."""
    with contextlib.suppress(OSError), stream:
        while (text := messages.get()) is not None:
            stream.write(text)
            stream.flush()


def _read(stream: IO[bytes], lines: queue.Queue[bytes | None], ending: threading.Event) -> None:
    """Reads lines, each bounded; waits while nobody takes them; None marks the end."""
    with stream:
        line: bytes | None = b""
        while line is not None:
            line = stream.readline(LONGEST_LINE + 1) or None
            while not ending.is_set():
                with contextlib.suppress(queue.Full):
                    lines.put(line, timeout=0.1)
                    break


def _drain(stream: IO[bytes], complaints: collections.deque[bytes]) -> None:
    """Keeps the last lines of the error output, each bounded."""
    with stream:
        while line := stream.readline(1000):
            complaints.append(line)


def _end(
    process: subprocess.Popen[bytes],
    messages: queue.SimpleQueue[bytes | None],
    ending: threading.Event,
    threads: list[threading.Thread],
    grace: float,
) -> None:
    """Closes the program's input, waits, and kills what is left, with all that it has started."""
    messages.put(None)
    ending.set()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=grace)
    if os.name == "nt":
        process.kill()
    else:  # what it started may live on without it, in the group that has its number
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for thread in threads:
        thread.join(timeout=1.0)


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text)} characters)"


def load(spec: str) -> External:
    """The program that ``cmd:COMMAND`` stands for."""
    return External(spec.removeprefix(PREFIX))


def serve(policy: Policy, seed: int, source: IO[bytes], sink: IO[bytes]) -> None:
    """Answer requests until the input ends; a batch that belongs together is decided at once.

    Args:
        policy: who plays.
        seed: of the policy's random numbers.
        source: where messages come from, one a line.
        sink: where answers go.

    Raises:
        ValueError: at a line that is no message of the protocol.
    """
    rng = np.random.default_rng(seed)
    rules = Rules()
    requests: list[Message] = []
    while line := source.readline(LONGEST_LINE + 1):
        message = protocol_reading.read_message(line)
        if message["type"] == "hello":
            rules = protocol_reading.read_rules(message)
        elif message["type"] == "decision":
            requests.append(message)
            if len(requests) > _LARGEST_BATCH:
                raise ValueError(f"a batch has at most {_LARGEST_BATCH} requests")
            if not message.get("more"):
                actions = policy(protocol_reading.read_view(requests, rules), rng)
                sink.write(protocol.lines(protocol.answers(requests, actions)))
                sink.flush()
                requests = []


def main(arguments: list[str] | None = None) -> int:
    """Serve a policy on standard input and output: ``python -m agents.external crazy``."""
    parser = argparse.ArgumentParser(
        prog="python -m agents.external",
        description="Play as one of our policies over the protocol for outside programs: "
        "JSON objects, one a line, on standard input and output.",
    )
    parser.add_argument("policy", help="a bot's name or a checkpoint file")
    parser.add_argument("--seed", type=int, default=0, help="of its random numbers (default 0)")
    options = parser.parse_args(arguments)
    try:
        serve(player(options.policy), options.seed, sys.stdin.buffer, sys.stdout.buffer)
    except (ValueError, OSError) as error:
        if not isinstance(error, BrokenPipeError):
            print(f"{parser.prog}: error: {error}", file=sys.stderr)
            return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
