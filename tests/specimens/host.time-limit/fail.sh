# The job gets a second, and needs more.
timeout --verbose 1 python train.py
