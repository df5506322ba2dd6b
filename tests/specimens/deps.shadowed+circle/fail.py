# Two modules of the project import names from each other while they load.
from layers import Block

print(f"width {Block(4).width}")
