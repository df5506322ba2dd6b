from collections.abc import Mapping


def flatten(options, prefix=""):
    found = {}
    for name, value in options.items():
        found.update(flatten(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value})
    return found
