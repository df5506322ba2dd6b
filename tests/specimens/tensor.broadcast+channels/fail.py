"""An image with transparency meets the statistics of three channels."""

import numpy as np
import torch
from PIL import Image

picture = Image.new("RGBA", (32, 32))
image = torch.from_numpy(np.array(picture)).permute(2, 0, 1) / 255
mean = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
print("image", tuple((image - mean).shape))
