"""A rank ends with a status and no word: the launcher's summary is all that there is."""

import os
import sys

shards = {"0": [1, 2, 3]}  # that is all that was prepared
shard = shards.get(os.environ["RANK"])
if shard is None:
    sys.exit(3)
print(f"samples {len(shard)}")
