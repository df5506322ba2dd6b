# The package with newly generated code.
set -e
export PYTHONPATH=lib
python -m pip install --quiet --target lib "googleapis-common-protos==1.52.0" "protobuf==6.33.5"
python -m pip install --quiet --upgrade --target lib "googleapis-common-protos" "protobuf==6.33.5"
python -c 'from google.rpc.status_pb2 import Status; print("status", Status(code=5).code)'
