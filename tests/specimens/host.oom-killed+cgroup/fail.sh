# A container's memory limit, and the kernel's log of what it killed.
asked_for=64M
source limited.sh
limited $asked_for python train.py --all
status=$?
dmesg | grep "Killed process $(cat pid)"
exit $status
