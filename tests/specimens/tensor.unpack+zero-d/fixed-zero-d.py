"""At least one dimension."""

import torch

scores = torch.rand(1, 1).squeeze()
print("scores", len([score for score in scores.reshape(-1)]))
