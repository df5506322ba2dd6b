"""The gradient of a function of integers."""

import jax
import jax.numpy as jnp

x = jnp.array([1, 2, 3])
print("slope", jax.grad(lambda x: (x**2).sum())(x))
