"""The encoding in which it was written."""

from pathlib import Path

Path("corpus.txt").write_bytes("Ein Café in Köln\n".encode("cp1252"))
text = open("corpus.txt", encoding="cp1252").read()
print("words", len(text.split()))
