"""The edges are padded."""

import keras
import tensorflow

layers = [keras.Input((8, 8, 1))]
for _ in range(3):
    layers += [keras.layers.Conv2D(2, 3, padding="same"), keras.layers.MaxPooling2D(padding="same")]
print("output", keras.Sequential(layers).output_shape)
