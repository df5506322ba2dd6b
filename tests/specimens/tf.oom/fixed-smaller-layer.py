"""The picture is averaged before the dense layer."""

import keras
import tensorflow

layers = [keras.Input((4096, 4096, 1)), keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(1_000_000)]
print("weights", len(keras.Sequential(layers).weights))
