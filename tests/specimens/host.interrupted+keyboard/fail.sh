# Ctrl-C, after the first steps.
env --default-signal=INT python train.py &
until [ -e last.json ]; do sleep 0.05; done
kill -INT $!
wait $!
