"""It is said to run on the CPU."""

from transformers import TrainingArguments

arguments = TrainingArguments("run", bf16=True, use_cpu=True)
print("device", arguments.device)
