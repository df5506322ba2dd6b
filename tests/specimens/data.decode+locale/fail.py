"""No encoding is named, and the job's locale is C."""

from pathlib import Path

Path("corpus.txt").write_bytes("Ein Café in Köln\n".encode())
text = open("corpus.txt").read()
print("words", len(text.split()))
