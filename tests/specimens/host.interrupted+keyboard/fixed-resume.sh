# The run is started again from its last checkpoint.
env --default-signal=INT python train.py > first.log 2>&1 &
until [ -e last.json ]; do sleep 0.05; done
kill -INT $!
wait $!
python train.py --resume
