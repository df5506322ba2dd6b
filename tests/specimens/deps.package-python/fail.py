# A package that was written for Python 3.9 and before.
import optkit

print(optkit.flatten({"lr": {"warmup": 100}}))
