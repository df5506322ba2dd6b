"""A batch whose activations are larger than the card."""

import torch

card = torch.cuda.mem_get_info()[1]
features = int(0.08 * card) // 4  # float32 numbers of one image's activations
batch_size = 16
activations = [torch.empty(features, device="cuda") for image in range(batch_size)]
print("batch", len(activations))
