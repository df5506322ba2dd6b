"""It starts with the shape that it has at the end."""

import jax
import jax.numpy as jnp


def add(total, row):
    return total + row, total.max()


total, _ = jax.lax.scan(add, jnp.zeros(2), jnp.ones((4, 2)))
print("total", total)
