"""Only what the graph declares is fed."""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"])
states = helper.make_tensor_value_info("states", TensorProto.INT64, ["batch", "length"])
graph = helper.make_graph([helper.make_node("Identity", ["input_ids"], ["states"])], "net", [ids], [states])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])

feed = {"input_ids": np.ones((1, 6), dtype=np.int64), "token_type_ids": np.zeros((1, 6), dtype=np.int64)}
names = {i.name for i in session.get_inputs()}
(out,) = session.run(None, {k: v for k, v in feed.items() if k in names})
print("states", out.shape)
