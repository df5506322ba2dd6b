"""A script that takes its local rank as an argument spelt with an underscore, under a launcher that spells it with a dash."""

import argparse
import os

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=0)
arguments = parser.parse_args()
print(f"local rank {arguments.local_rank} of {os.environ['WORLD_SIZE']}")
