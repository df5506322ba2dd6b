"""The loss that takes integers."""

import keras
import numpy as np
import tensorflow

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="softmax")])
model.compile("sgd", loss="sparse_categorical_crossentropy")
history = model.fit(np.ones((8, 4)), np.zeros(8, dtype="int64"), verbose=0)
print("epochs", len(history.epoch))
