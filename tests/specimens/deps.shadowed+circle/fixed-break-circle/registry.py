known = {}


def register(kind):
    known[kind.__name__] = kind
    return kind


def build(name, width):
    from layers import Block

    return known.get(name, Block)(width)
