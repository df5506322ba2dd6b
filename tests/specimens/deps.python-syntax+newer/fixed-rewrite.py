# The alias as older Pythons write it.
from typing import Dict

Rates = Dict[str, float]


def best(rates: Rates) -> str:
    return max(rates, key=rates.__getitem__)


print(f"best {best({'encoder': 0.1, 'head': 0.2})}")
