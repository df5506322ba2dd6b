"""A file of 2 MB, where a file may have 100 kB."""

with open("features.bin", "wb") as stream:
    for _ in range(32):
        stream.write(bytes(65536))
print("written")
