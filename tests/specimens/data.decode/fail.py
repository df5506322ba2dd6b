"""A text from Windows, read as UTF-8."""

from pathlib import Path

Path("corpus.txt").write_bytes("Ein Café in Köln\n".encode("cp1252"))
text = open("corpus.txt", encoding="utf-8").read()
print("words", len(text.split()))
