"""The array is cast to the type that the graph declares."""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

image = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 3])
score = helper.make_tensor_value_info("score", TensorProto.FLOAT, ["batch", 3])
graph = helper.make_graph([helper.make_node("Relu", ["image"], ["score"])], "net", [image], [score])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)

session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
(out,) = session.run(None, {"image": np.random.default_rng(0).random((2, 3)).astype(np.float32)})
print("scores", out.shape)
