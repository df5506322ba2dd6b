"""Temporary files go to a disk of one megabyte."""

import tempfile

with tempfile.NamedTemporaryFile() as scratch:
    scratch.write(bytes(4 << 20))
    scratch.flush()
    print("scratch", scratch.tell() >> 20)
