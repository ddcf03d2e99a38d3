"""The argument parser of the commands: a mistake costs one line, not the whole usage."""

from __future__ import annotations

import argparse
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """Ends with status 2 and one line that says what is wrong."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and end."""
        self.exit(2, f"{self.prog}: error: {message} (--help has all options)\n")
