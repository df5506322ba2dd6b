"""The exporter wrote an opset that the runtime does not know yet."""

import onnxruntime
from onnx import TensorProto, helper

OPSET = 99
x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "net", [x], [y])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)

session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
print("loaded", session.get_outputs()[0].name)
