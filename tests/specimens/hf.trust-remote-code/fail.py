"""A model folder with classes of its own, as from a repository on the Hub."""

from transformers import AutoModel

model = AutoModel.from_pretrained("./model")
print("loaded", type(model).__name__)
