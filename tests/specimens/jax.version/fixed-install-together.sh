# The jax of jaxlib's own release.
version=$(python -c "import importlib.metadata as m; print(m.version('jaxlib'))")
python -m pip install -q --no-deps --disable-pip-version-check --target packages "jax==$version" >/dev/null 2>&1
PYTHONPATH=packages python -c "import jax.numpy as jnp; print('sum', jnp.ones(4).sum())"
