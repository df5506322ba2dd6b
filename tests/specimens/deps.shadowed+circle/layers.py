from registry import register


@register
class Block:
    def __init__(self, width):
        self.width = width
