# A launcher reaches its nodes by ssh, and no server listens on that port.
for node in localhost; do
    ssh -o BatchMode=yes -o ConnectTimeout=5 -p 1 "$node" "echo started rank 0"
done
