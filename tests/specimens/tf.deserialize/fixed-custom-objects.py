"""The class is handed over."""

import keras
import tensorflow


def save():
    class Scale(keras.layers.Layer):
        def call(self, x):
            return 2.0 * x

    keras.Sequential([keras.Input((4,)), Scale()]).save("model.keras")


class Twice(keras.layers.Layer):
    def call(self, x):
        return 2.0 * x


save()
model = keras.models.load_model("model.keras", custom_objects={"Scale": Twice})
print("out", model(tensorflow.ones((1, 4))).shape)
