"""``python -m tests.fuzz --inputs 1000000``: every loader, and a count for each."""

import argparse
import sys
import time
from pathlib import Path

from tests.fuzz.harness import Finding, Harness
from tests.fuzz.targets import TARGETS


def main():
    """Try the inputs; 1 if any ended badly."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000, help="in all (default 10,000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", choices=TARGETS, action="append", help="only this; repeatable")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-findings"), help="where to keep")
    options = parser.parse_args()
    chosen = [TARGETS[name] for name in options.target or TARGETS]
    total = sum(target.share for target in chosen)
    harness = Harness(options.seed)
    found: list[Finding] = []
    print(f"{'loader':12}{'inputs':>10}{'refused':>10}{'read':>8}{'wrong':>7}{'seconds':>9}")
    for target in chosen:
        inputs = round(options.inputs * target.share / total)
        start, refused, read, wrong = time.process_time(), 0, 0, 0
        for number in range(inputs):
            outcome = harness.attempt(target, number)
            refused += outcome == "refused"
            read += outcome == "read"
            if isinstance(outcome, Finding):
                wrong += 1
                found.append(outcome)
                print(f"\r{outcome.keep(options.keep)}", file=sys.stderr)
            if number % 1000 == 0:
                print(f"\r{target.name} {number:,} of {inputs:,}", end="", file=sys.stderr)
        seconds = time.process_time() - start
        print("\r", end="", file=sys.stderr)
        print(f"{target.name:12}{inputs:10,}{refused:10,}{read:8,}{wrong:7}{seconds:9.0f}")
        sys.stdout.flush()
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
