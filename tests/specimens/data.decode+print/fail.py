"""The program prints a word that the output's encoding does not have."""

for word in ("loss", "précision"):
    print(word, flush=True)
