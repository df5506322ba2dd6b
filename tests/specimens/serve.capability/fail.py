"""bfloat16 was set for the cluster's GPUs, and the script is tried on a machine without one."""

from transformers import TrainingArguments

arguments = TrainingArguments("run", bf16=True)
print("device", arguments.device)
