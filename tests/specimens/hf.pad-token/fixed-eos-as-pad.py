"""The end of the text fills the rows; the attention mask hides it."""

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2Model, PreTrainedTokenizerFast

words = {"<|endoftext|>": 0, "a": 1, "short": 2, "row": 3, "and": 4, "longer": 5}
core = Tokenizer(models.WordLevel(words, unk_token="<|endoftext|>"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, eos_token="<|endoftext|>")
tokenizer.pad_token = tokenizer.eos_token
model = GPT2Model(GPT2Config(vocab_size=len(words), n_embd=16, n_layer=1, n_head=2, n_positions=32))

batch = tokenizer(["a short row", "a longer row and a short row"], padding=True, return_tensors="pt")
with torch.no_grad():
    out = model(**batch).last_hidden_state
print("hidden", tuple(out.shape))
