"""The folder of a fine-tuned model has no file of the tokenizer."""

from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("model")
print("tokens", len(tokenizer("a good film")["input_ids"]))
