"""A weight that is laid out as torch keeps it, outputs first."""

import jax.numpy as jnp

images = jnp.ones((2, 784))
weight = jnp.ones((10, 784))
print("logits", jnp.dot(images, weight).shape)
