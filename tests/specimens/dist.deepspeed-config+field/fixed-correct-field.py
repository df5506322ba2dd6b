"""A field of a DeepSpeed configuration is a whole number."""

from deepspeed import DeepSpeedConfig

settings = {"train_batch_size": 16, "zero_optimization": {"stage": 2, "reduce_bucket_size": 236044}}
config = DeepSpeedConfig(settings)
print("stage", config.zero_optimization_stage)
