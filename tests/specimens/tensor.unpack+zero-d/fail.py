"""squeeze() of a single sample leaves a number, and a number has nothing to iterate over."""

import torch

scores = torch.rand(1, 1).squeeze()
print("scores", len([score for score in scores]))
