# The run is started again from its last checkpoint.
python launch.py > first.log 2>&1 &
until [ -e last.json ]; do sleep 0.05; done
pkill -TERM -P $!
wait $!
python launch.py --resume
