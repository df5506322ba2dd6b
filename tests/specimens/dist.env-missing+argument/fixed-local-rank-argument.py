"""A script that takes its local rank under every launcher."""

import argparse
import os

parser = argparse.ArgumentParser()
parser.add_argument("--local-rank", "--local_rank", type=int, default=int(os.environ.get("LOCAL_RANK", 0)))
arguments = parser.parse_args()
print(f"local rank {arguments.local_rank} of {os.environ['WORLD_SIZE']}")
