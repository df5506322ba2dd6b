"""Part of the model lies on the disk, and the program moves all of it."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2)
LlamaForCausalLM(config).save_pretrained("model")
places = {"model.embed_tokens": "cpu", "model.layers.0": "cpu", "model.layers.1": "disk", "model.norm": "cpu", "model.rotary_emb": "cpu", "lm_head": "cpu"}
model = LlamaForCausalLM.from_pretrained("model", device_map=places, offload_folder="offload")
model = model.to("cpu")
print("logits", tuple(model(torch.ones(1, 5, dtype=torch.long)).logits.shape))
