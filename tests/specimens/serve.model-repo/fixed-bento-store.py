"""The model is saved into the store under that name."""

import pathlib

import bentoml

with bentoml.models.create("ranker") as saved:
    pathlib.Path(saved.path_of("weights.txt")).write_text("0.5 0.5")
model = bentoml.models.get("ranker:latest")
print("serving", model.tag.name)
