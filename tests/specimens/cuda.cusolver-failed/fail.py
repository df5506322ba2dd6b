"""A covariance of fewer samples than features is factorised."""

import torch

torch.manual_seed(0)
samples = torch.randint(-9, 9, (3, 6)).float()
A = samples.mT @ samples
factor = torch.linalg.cholesky(A)
print("factor", tuple(factor.shape), bool(factor.isfinite().all()))
