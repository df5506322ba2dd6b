# Somebody ends the run from another terminal, after its first steps.
python launch.py &
until [ -e last.json ]; do sleep 0.05; done
pkill -TERM -P $!
wait $!
