"""A one-channel image meets a network for three channels."""

import numpy as np
import torch
from PIL import Image
from torch import nn

conv = nn.Conv2d(3, 8, kernel_size=3)
picture = Image.new("L", (32, 32))
image = torch.from_numpy(np.atleast_3d(np.array(picture))).permute(2, 0, 1).unsqueeze(0).float() / 255
print("maps", tuple(conv(image).shape))
