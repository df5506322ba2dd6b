# The package is not installed here, and a folder of its results stands in for it.
from meterbar import bar

print(bar(3, 4))
