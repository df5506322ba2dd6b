"""The machine cannot reach the Hub, and the cache is empty."""

from transformers import AutoConfig

print("width", AutoConfig.from_pretrained("example-lab/tiny").hidden_size)
