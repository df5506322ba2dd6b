# A runtime that is not older than the code.
set -e
python -m pip install --quiet --target lib "protobuf==6.33.5"
python -m pip install --quiet --upgrade --target lib "protobuf>=7.35.1"
cp run_pb2.generated run_pb2.py    # as protoc 35.1 wrote it
PYTHONPATH=lib python -c 'from run_pb2 import Run; print("loss", Run(loss=0.5).loss)'
