def scaled(values):
    return values * 2
