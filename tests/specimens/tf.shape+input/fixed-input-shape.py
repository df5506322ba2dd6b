"""One channel, as the layer was built for."""

import keras
import numpy as np
import tensorflow

model = keras.Sequential([keras.Input((28, 28, 1)), keras.layers.Conv2D(2, 3), keras.layers.Flatten(), keras.layers.Dense(3)])
pictures = np.ones((2, 28, 28, 3), dtype="float32")
pictures = pictures.mean(axis=-1, keepdims=True)
print("logits", model(pictures).shape)
