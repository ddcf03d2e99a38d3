"""One input, tried under limits: it ends in the loader's error, in a right result, or is kept."""

import random
import resource
import signal
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path

TIME_LIMIT = 5.0  # seconds of this process's own time for one input
MEMORY_LIMIT = 256 * 2**20  # bytes that one input may add to what is resident
ADDRESS_LIMIT = 4 * 2**30  # bytes that it may ask for


class TookTooLong(BaseException):
    """Raised by the timer; no loader catches it."""


@dataclass(frozen=True)
class Finding:
    """An input that ended badly."""

    target: str
    seed: int
    number: int
    data: bytes
    what: str

    def keep(self, directory: Path) -> str:
        """Write the input down, and say where and what it does."""
        directory.mkdir(parents=True, exist_ok=True)
        file = directory / f"{self.target}-{self.seed}-{self.number}"
        file.write_bytes(self.data)
        return f"{file}: {self.what}"


class Harness:
    """Tries inputs one after another.

    Attributes:
        seed: decides all inputs, each of which can be made alone.
    """

    def __init__(self, seed: int = 0):
        self.seed = seed

    def attempt(self, target, number: int):
        """Try one input: ``"refused"``, ``"read"`` or a `Finding`."""
        data = target.input(random.Random(f"{self.seed}/{target.name}/{number}"))
        before = _resident()
        try:
            outcome = _limited(target, data)
        except (Exception, TookTooLong) as error:
            what = "".join(traceback.format_exception(error))[-1500:]
            return Finding(target.name, self.seed, number, data, what)
        if _resident() > before + MEMORY_LIMIT:
            return Finding(target.name, self.seed, number, data, "took too much memory")
        return outcome


def _limited(target, data: bytes) -> str:
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    previous = signal.signal(signal.SIGVTALRM, _time_is_up)
    resource.setrlimit(resource.RLIMIT_AS, (_mapped() + ADDRESS_LIMIT, hard))
    signal.setitimer(signal.ITIMER_VIRTUAL, TIME_LIMIT)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            target.load(data)
    except target.refuses as error:
        if target.refuses is ValueError and type(error) is not ValueError:
            raise  # UnicodeDecodeError and the like: one of somebody else's
        return "refused"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGVTALRM, previous)
    return "read"


def _time_is_up(*_):
    raise TookTooLong(f"more than {TIME_LIMIT:g} seconds")


def _mapped() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _resident() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
