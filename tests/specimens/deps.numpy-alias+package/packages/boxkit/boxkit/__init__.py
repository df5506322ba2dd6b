import numpy as np


def areas(boxes):
    boxes = np.asarray(boxes, dtype=float)
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
