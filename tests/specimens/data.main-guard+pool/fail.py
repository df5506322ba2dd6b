"""A pool of processes, started by spawn from the top level of the script."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor


def tokens(text):
    return len(text.split())


with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
    print("tokens", sum(pool.map(tokens, ["one two", "three"])))
