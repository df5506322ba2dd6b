"""The sum of rows starts as one number and goes on as a row."""

import jax
import jax.numpy as jnp


def add(total, row):
    return total + row, total.max()


total, _ = jax.lax.scan(add, jnp.zeros(()), jnp.ones((4, 2)))
print("total", total)
