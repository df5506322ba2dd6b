"""Read the whole data set into lists."""

import sys

rows = 200_000 if "--all" in sys.argv else 2_000


def read():
    for i in range(rows):
        yield [float(i + j) for j in range(32)]


if "--stream" in sys.argv:
    total = sum(row[0] for row in read())
else:
    total = sum(row[0] for row in list(read()))
print("total", int(total))
