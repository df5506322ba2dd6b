"""The programs: each fails for real, and the line that ends with `# blame` is the one that has to be named."""

INPLACE = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))

    def forward(self, x):
        kept = []
        for layer in self.body:
            x = torch.sigmoid(layer(x))
            kept.append(x)
        kept[1] *= 2  # blame
        return kept[1] + x


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).sum().backward()
    optimizer.step()
"""

STEP_BETWEEN = """
import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
actor = nn.Linear(4, 4)
of_critic = torch.optim.SGD(critic.parameters(), lr=0.1)
state = torch.randn(16, 4)
actor_loss = -critic(actor(state)).mean()
critic_loss = critic(state).pow(2).mean()
critic_loss.backward()
of_critic.step()  # blame
actor_loss.backward()
"""

NAN_BACKWARD = """
import torch
from torch import nn


def distance(a, b):
    squares = (a - b).pow(2).sum(-1)
    return squares.sqrt()  # blame


torch.manual_seed(0)
net = nn.Linear(4, 4)
x = torch.randn(8, 4)
for step in range(3):
    out = net(x)
    loss = distance(out, out.clone()).mean() + out.pow(2).mean()
    net.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0, error_if_nonfinite=True)
"""

NAN_FORWARD = """
import sys

import torch
from torch import nn


class Head(nn.Module):
    def forward(self, x):
        scores = x / x.sum(-1, keepdim=True)
        return torch.log(scores)  # blame


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), Head(), nn.Linear(8, 1))
for step in range(5):
    loss = net(torch.randn(8, 4)).mean()
    print(f"step {step} loss: {loss.item():.4f}")
    loss.backward()
    if not torch.isfinite(loss):
        sys.exit("Loss is nan, stopping training")
"""

WORKER = """
import torch
from torch.utils.data import DataLoader, Dataset


class Items(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        return self.read(index)

    def read(self, index):
        parts = ("7," * (3 if index != 21 else 2)).split(",")
        return torch.tensor([float(parts[2])])  # blame


for batch in DataLoader(Items(), batch_size=4, num_workers=2, prefetch_factor=2, persistent_workers=True):
    pass
"""

SEGFAULT = """
import ctypes
import os

library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libfast.so"))


def normalise(rows):
    return library.fast_normalise(None, rows)  # blame


def main():
    for epoch in range(2):
        print("epoch", epoch, flush=True)
        normalise(epoch + 1)


main()
"""

SEGFAULT_SOURCE = """
int fast_normalise(double *values, int rows) {
    for (int i = 0; i < rows; i++) values[i] /= 2;
    return 0;
}
"""

EXTENSION = """
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def operators():
    import fastops  # blame

    return fastops


operators()
"""

EXTENSION_SOURCE = """
#include <Python.h>
extern int fast_missing_symbol(int);
static PyObject *call(PyObject *self, PyObject *args) { return PyLong_FromLong(fast_missing_symbol(1)); }
static PyMethodDef methods[] = {{"call", call, METH_NOARGS, ""}, {0, 0, 0, 0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "fastops", 0, -1, methods};
PyMODINIT_FUNC PyInit_fastops(void) { return PyModule_Create(&module); }
"""

LIBRARY = """
import ctypes
import os


def codec():
    here = os.path.dirname(os.path.abspath(__file__))
    return ctypes.CDLL(os.path.join(here, "libouter.so"))  # blame


codec()
"""
