# A script that was copied without its execute bit.
mkdir tools
echo 'echo "data prepared"' > tools/prepare.sh
./tools/prepare.sh
