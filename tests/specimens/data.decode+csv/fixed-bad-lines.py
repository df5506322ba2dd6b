"""pandas guesses the separator."""

from pathlib import Path

import pandas as pd

Path("prices.csv").write_text("name;price\ntea;2,50\ncake;3,20 1,10\npie;1,2,3\n")
table = pd.read_csv("prices.csv", sep=None, engine="python")
print("columns", list(table.columns))
