# torch._six, which kept one program running on Python 2 and 3, is gone since torch 2.0.
import torch
from torch._six import container_abcs

batch = [torch.zeros(2), torch.ones(2)]
print(f"sequence {isinstance(batch, container_abcs.Sequence)}")
