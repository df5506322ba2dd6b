# A repository with large files, cloned where Git LFS is not set up: pointers lie in their place.
set -e
source setup.sh
cd clone
python ../load.py
