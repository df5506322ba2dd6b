"""The device that JAX has, whatever it is."""

import jax
import jax.numpy as jnp

device = jax.devices()[0]
x = jax.device_put(jnp.ones(4), device)
print("sum", x.sum())
