"""Fit a line, and save the whole object."""

import pickle


class Model:
    def __init__(self, slope):
        self.slope = slope

    def predict(self, x):
        return self.slope * x


if __name__ == "__main__":
    with open("model.pkl", "wb") as stream:
        pickle.dump(Model(slope=2.0), stream)
