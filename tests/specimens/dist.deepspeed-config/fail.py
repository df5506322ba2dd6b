"""The three batch sizes of a DeepSpeed configuration do not multiply."""

from deepspeed import DeepSpeedConfig

settings = {"train_batch_size": 16, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2}
config = DeepSpeedConfig(settings)
print("micro batch", config.train_micro_batch_size_per_gpu)
