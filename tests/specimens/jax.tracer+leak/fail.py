"""Losses are kept in a list of the module, where they are traces without numbers."""

import jax
import jax.numpy as jnp

history = []


@jax.jit
def step(weight, x):
    loss = ((weight * x - 1.0) ** 2).mean()
    history.append(loss)
    return weight + 0.1 * loss


weight = jnp.float32(0.5)
for _ in range(3):
    weight = step(weight, jnp.ones(4))
print("losses", len(history), "falling", bool(history[-1] < history[0]))
