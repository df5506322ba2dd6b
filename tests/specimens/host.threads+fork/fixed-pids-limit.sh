# A user who may have more processes.
allowed=$(ulimit -H -u)
setpriv --reuid=64123 --clear-groups prlimit --nproc=$allowed: sh -c '
for i in 1 2 3 4 5 6 7 8 9 10; do
    sleep 0.5 &
done
wait
echo "started 10"
'
