# A package that was written for NumPy 1.23 stands beside NumPy 2.
import boxkit

print(boxkit.areas([[0, 0, 2, 3]]).tolist())
