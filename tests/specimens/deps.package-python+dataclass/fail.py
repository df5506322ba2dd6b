# A package whose configuration has an object of a class as its default, which Python 3.11 refuses.
import trainkit

print(f"rate {trainkit.Config().optimizer.rate}")
