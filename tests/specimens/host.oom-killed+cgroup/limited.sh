# Run a command in a memory cgroup of its own: of version 2, or of version 1.
limited() {
    local root=/sys/fs/cgroup file=memory.max
    [ -d $root/memory ] && root=$root/memory file=memory.limit_in_bytes
    local group=$root/aifix-specimen-$$
    mkdir "$group"
    echo "$1" > "$group/$file"
    [ -e "$group/memory.swap.max" ] && echo 0 > "$group/memory.swap.max"
    shift
    (
        echo "$BASHPID" > "$group/cgroup.procs"
        echo "$BASHPID" > pid
        exec "$@"
    )
    local status=$?
    rmdir "$group"
    return $status
}
