import pickle

with open("model.pkl", "rb") as stream:
    state = pickle.load(stream)
print("weights", len(state["weight"]))
