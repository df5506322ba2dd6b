"""The code was read, and may run."""

from transformers import AutoModel

model = AutoModel.from_pretrained("./model", trust_remote_code=True)
print("loaded", type(model).__name__)
