"""A data set keeps its file open, and goes to another process."""

import multiprocessing
from pathlib import Path


class Lines:
    def __init__(self, path):
        self.path = path
        self.file = open(path)

    def __getitem__(self, i):
        self.file.seek(2 * i)
        return self.file.read(1)


def first(lines):
    return lines[1]


if __name__ == "__main__":
    Path("rows.txt").write_text("a\nb\n")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print("row", pool.apply(first, [Lines("rows.txt")]))
