# A first try with random numbers.
numbers = [4, 8, 15]
