"""The axes are named."""

import jax.numpy as jnp

images = jnp.ones((2, 784))
weight = jnp.ones((10, 784))
print("logits", jnp.einsum("bi,oi->bo", images, weight).shape)
