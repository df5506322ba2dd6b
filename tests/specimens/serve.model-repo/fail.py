"""The service asks the store for a model that nobody has saved there."""

import bentoml

model = bentoml.models.get("ranker:latest")
print("serving", model.tag.name)
