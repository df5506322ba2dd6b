"""The encoding is named."""

from pathlib import Path

Path("corpus.txt").write_bytes("Ein Café in Köln\n".encode())
text = open("corpus.txt", encoding="utf-8").read()
print("words", len(text.split()))
