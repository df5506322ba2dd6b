"""A covariance of fewer samples than features is made positive-definite and factorised."""

import torch

torch.manual_seed(0)
samples = torch.randint(-9, 9, (3, 6)).float()
A = samples.mT @ samples
A = 0.5 * (A + A.mT) + 1e-3 * A.diagonal(dim1=-2, dim2=-1).mean(-1)[..., None, None] * torch.eye(A.shape[-1], device=A.device)
factor = torch.linalg.cholesky(A)
print("factor", tuple(factor.shape), bool(factor.isfinite().all()))
