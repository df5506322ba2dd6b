"""A bias for each row is added where JAX aligns the columns."""

import jax.numpy as jnp

scores = jnp.zeros((3, 4))
bias = jnp.ones(3)
print("scores", (scores + bias).shape)
