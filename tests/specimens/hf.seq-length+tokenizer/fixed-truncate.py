"""The tokenizer cuts at what the model holds."""

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2Model, PreTrainedTokenizerFast

words = {"<|endoftext|>": 0, "on": 1, "and": 2}
core = Tokenizer(models.WordLevel(words, unk_token="<|endoftext|>"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, eos_token="<|endoftext|>", model_max_length=32)
model = GPT2Model(GPT2Config(vocab_size=len(words), n_embd=16, n_layer=1, n_head=2, n_positions=32)).eval()

batch = tokenizer("on and " * 30, truncation=True, max_length=32, return_tensors="pt")
with torch.no_grad():
    out = model(**batch).last_hidden_state
print("states of", out.shape[-1])
