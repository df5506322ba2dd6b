"""The download of the tokenizer broke off."""

from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("model")
print("tokens", len(tokenizer("a good film")["input_ids"]))
