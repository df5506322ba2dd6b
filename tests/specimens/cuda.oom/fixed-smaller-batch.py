"""A batch whose activations are smaller than the card, two of which make a step."""

import torch

card = torch.cuda.mem_get_info()[1]
features = int(0.08 * card) // 4  # float32 numbers of one image's activations
batch_size = 8
for half in range(2):
    activations = [torch.empty(features, device="cuda") for image in range(batch_size)]
    done = len(activations)
    del activations
print("batch", 2 * done)
