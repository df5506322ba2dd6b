# The job gets a minute.
timeout --verbose 60 python train.py
