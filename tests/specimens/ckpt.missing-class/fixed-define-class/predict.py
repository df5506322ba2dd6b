import pickle

import __main__
from train import Model

__main__.Model = Model
with open("model.pkl", "rb") as stream:
    model = pickle.load(stream)
print("predicts", model.predict(3.0))
