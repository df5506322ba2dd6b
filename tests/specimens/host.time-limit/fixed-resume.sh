# Each further job goes on where the one before was ended.
for job in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
    timeout --verbose 1.5 python train.py --resume >> train.log 2>&1 && break
done
tail -n 1 train.log
