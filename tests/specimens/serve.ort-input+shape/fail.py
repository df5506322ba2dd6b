"""One picture without a batch, channels last, for a graph of batches with the channels first."""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

images = helper.make_tensor_value_info("images", TensorProto.FLOAT, ["batch", 3, 8, 8])
scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", 3, 8, 8])
graph = helper.make_graph([helper.make_node("Relu", ["images"], ["scores"])], "net", [images], [scores])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])

picture = np.zeros((8, 8, 3), dtype=np.float32)
(out,) = session.run(None, {"images": picture})
print("scores", out.shape)
