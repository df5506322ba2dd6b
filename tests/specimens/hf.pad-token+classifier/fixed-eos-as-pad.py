"""The head knows by the id what is padding."""

import torch
from transformers import LlamaConfig, LlamaForSequenceClassification

torch.manual_seed(0)
config = LlamaConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, num_labels=3, pad_token_id=None)
model = LlamaForSequenceClassification(config)
model.config.pad_token_id = model.config.eos_token_id
tokens = torch.randint(3, 64, (4, 9))
out = model(input_ids=tokens, labels=torch.tensor([0, 1, 2, 0]))
print("logits", tuple(out.logits.shape))
