"""In float32."""

from transformers import TrainingArguments

arguments = TrainingArguments("run", bf16=False)
print("device", arguments.device)
