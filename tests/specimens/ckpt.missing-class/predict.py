import pickle

with open("model.pkl", "rb") as stream:
    model = pickle.load(stream)
print("predicts", model.predict(3.0))
