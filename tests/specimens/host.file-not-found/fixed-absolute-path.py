"""The path is built from the folder of the script."""

import os
from pathlib import Path

Path("data").mkdir()
Path("data/train.csv").write_text("1,2\n3,4\n")
os.chdir("data")  # the job script does so

with open(Path(__file__).resolve().parent / "data/train.csv") as stream:
    print("rows", len(stream.readlines()))
