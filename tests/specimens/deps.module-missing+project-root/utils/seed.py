import random


def seed(value):
    random.seed(value)
    return value
