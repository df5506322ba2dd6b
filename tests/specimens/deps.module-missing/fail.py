# Started in an environment into which one of its packages was never installed.
import meterbar

print(meterbar.bar(3, 4))
