"""A relative path, and the run is started from another folder."""

import os
from pathlib import Path

Path("data").mkdir()
Path("data/train.csv").write_text("1,2\n3,4\n")
os.chdir("data")  # the job script does so

with open("data/train.csv") as stream:
    print("rows", len(stream.readlines()))
