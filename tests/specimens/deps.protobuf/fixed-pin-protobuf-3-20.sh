# The last protobuf that takes such code.
set -e
export PYTHONPATH=lib
python -m pip install --quiet --target lib "googleapis-common-protos==1.52.0" "protobuf==3.20.3"
python -c 'from google.rpc.status_pb2 import Status; print("status", Status(code=5).code)'
