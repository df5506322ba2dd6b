import subprocess
import sys

subprocess.run([sys.executable, "train.py", *sys.argv[1:]], check=True)
print("launched and ended")
