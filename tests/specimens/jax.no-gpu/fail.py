"""Data are put on a GPU, and JAX has none."""

import jax
import jax.numpy as jnp

device = jax.devices("gpu")[0]
x = jax.device_put(jnp.ones(4), device)
print("sum", x.sum())
