# Another package has moved pydantic-core to a release that this pydantic was not made for.
set -e
export PIP_ONLY_BINARY=:all: PYTHONPATH=lib
python -m pip install --quiet --target lib "pydantic==2.12.5"
python -m pip install --quiet --upgrade --no-deps --target lib "pydantic-core==2.40.0"
python -c 'from pydantic import BaseModel; print("validated", issubclass(BaseModel, object))'
