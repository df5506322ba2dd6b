"""Forty tokens for a model of 32 positions."""

import torch
from transformers import BertConfig, BertModel

model = BertModel(BertConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, max_position_embeddings=32))
tokens = torch.randint(5, 64, (2, 40))
print("states", len(model(input_ids=tokens).last_hidden_state))
