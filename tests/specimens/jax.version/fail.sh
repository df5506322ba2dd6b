# An older jax was put beside the jaxlib that is there.
python -m pip install -q --no-deps --disable-pip-version-check --target packages "jax==0.9.0" >/dev/null 2>&1
PYTHONPATH=packages python -c "import jax.numpy as jnp; print('sum', jnp.ones(4).sum())"
