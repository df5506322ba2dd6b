# The data are streamed.
asked_for=64M
source limited.sh
limited $asked_for python train.py --all --stream
status=$?
dmesg | grep "Killed process $(cat pid)"
exit $status
