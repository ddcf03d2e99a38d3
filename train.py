"""Train a gin rummy policy: ``python train.py --config configs/quick.yaml``."""

import sys

from agents.cli_train import main

if __name__ == "__main__":
    sys.exit(main())
