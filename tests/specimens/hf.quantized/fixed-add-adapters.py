"""Adapters on top are trained, and the packed weights stay."""

import torch
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import BitsAndBytesConfig, LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

torch.manual_seed(0)
config = LlamaConfig(vocab_size=64, hidden_size=64, intermediate_size=128, num_hidden_layers=1, num_attention_heads=2)
LlamaForCausalLM(config).save_pretrained("model")
model = LlamaForCausalLM.from_pretrained("model", quantization_config=BitsAndBytesConfig(load_in_4bit=True), device_map="cpu", dtype=torch.float32)

model = prepare_model_for_kbit_training(model)
model = get_peft_model(model, LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM"))
rows = [{"input_ids": list(range(8)), "labels": list(range(8))} for _ in range(4)]
arguments = TrainingArguments("run", max_steps=2, report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no")
print("steps", Trainer(model, arguments, train_dataset=rows).train().global_step)
