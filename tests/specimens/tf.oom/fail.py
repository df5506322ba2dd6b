"""A dense layer on a flattened picture of sixteen million pixels."""

import keras
import tensorflow

layers = [keras.Input((4096, 4096, 1)), keras.layers.Flatten(), keras.layers.Dense(1_000_000)]
print("weights", len(keras.Sequential(layers).weights))
