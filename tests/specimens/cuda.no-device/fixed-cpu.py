"""Lightning is told to use what there is."""

import lightning

trainer = lightning.Trainer(accelerator="auto", devices=1, logger=False, enable_checkpointing=False)
print("trainer for", trainer.accelerator.__class__.__name__)
