# Git LFS fetches the real files.
set -e
source setup.sh
cd clone
git lfs install
git lfs pull
python ../load.py
