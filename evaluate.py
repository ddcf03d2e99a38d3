"""Compare players over paired deals: ``python evaluate.py crazy --opponent greedy``."""

import sys

from agents.cli_evaluate import main

if __name__ == "__main__":
    sys.exit(main())
