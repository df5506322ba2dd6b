# The standard library's own names.
import collections.abc as container_abcs

import torch

batch = [torch.zeros(2), torch.ones(2)]
print(f"sequence {isinstance(batch, container_abcs.Sequence)}")
