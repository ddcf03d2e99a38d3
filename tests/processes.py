"""Processes that a test has started, seen from outside."""

import os
import time
from pathlib import Path


def alive(pid):
    """Whether a process runs; one that has ended and waits to be asked about does not."""
    try:
        os.kill(pid, 0)
        # The state follows the name, which stands in brackets and may hold anything.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # it has just ended, or this system has no /proc
        return not Path("/proc/self").exists()


def ends(pid, seconds=10.0):
    """Whether a process ends within some seconds."""
    deadline = time.monotonic() + seconds
    while alive(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
