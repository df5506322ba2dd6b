"""Exported again with a batch that is free."""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

BATCH = "batch"


def export(batch):
    images = helper.make_tensor_value_info("images", TensorProto.FLOAT, [batch, 3, 8, 8])
    scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, [batch, 3, 8, 8])
    graph = helper.make_graph([helper.make_node("Relu", ["images"], ["scores"])], "net", [images], [scores])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


session = onnxruntime.InferenceSession(export(BATCH).SerializeToString(), providers=["CPUExecutionProvider"])
(out,) = session.run(None, {"images": np.zeros((4, 3, 8, 8), dtype=np.float32)})
print("scores", out.shape)
