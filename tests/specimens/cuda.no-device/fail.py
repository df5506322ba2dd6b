"""Lightning is told to use a GPU, and there is none."""

import lightning

trainer = lightning.Trainer(accelerator="gpu", devices=1, logger=False, enable_checkpointing=False)
print("trainer for", trainer.accelerator.__class__.__name__)
