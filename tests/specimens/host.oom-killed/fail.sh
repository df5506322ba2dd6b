# A scheduler that looks at the memory of its jobs, and kills what takes more than was asked for.
watch() {
    while resident=$(awk '/VmRSS/ { print $2 }' "/proc/$1/status" 2> /dev/null) && [ -n "$resident" ]; do
        [ "$resident" -gt "$2" ] && kill -KILL "$1" && break
        sleep 0.02
    done
}
asked_for=60000
python train.py --all &
watch $! $asked_for
wait $!
status=$?
echo "the job ended with $status"
exit $status
