"""Python's if asks a traced value for its truth."""

import jax
import jax.numpy as jnp


@jax.jit
def clip(x):
    if x > 0:
        return x
    return 0.1 * x


print("clipped", clip(jnp.float32(-2.0)))
