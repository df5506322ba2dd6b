"""The bias is a column."""

import jax.numpy as jnp

scores = jnp.zeros((3, 4))
bias = jnp.ones(3)
print("scores", (scores + bias[:, None]).shape)
