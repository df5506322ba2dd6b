"""What starts processes stands under the main guard."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor


def tokens(text):
    return len(text.split())


def main():
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        print("tokens", sum(pool.map(tokens, ["one two", "three"])))


if __name__ == "__main__":
    main()
