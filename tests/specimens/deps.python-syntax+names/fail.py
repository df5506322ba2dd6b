# Written for Python 2.
rates = {"encoder": 0.1, "head": 0.2}
for name, rate in rates.iteritems():
    print("%s %.1f" % (name, rate))
