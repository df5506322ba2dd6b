# As 2to3 writes it.
rates = {"encoder": 0.1, "head": 0.2}
for name, rate in rates.items():
    print("%s %.1f" % (name, rate))
