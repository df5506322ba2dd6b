# Written for Python 2.
rates = {"encoder": 0.1, "head": 0.2}
for name in sorted(rates):
    print "%s %.1f" % (name, rates[name])
