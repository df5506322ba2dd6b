"""The file was saved by an onnx that is newer than the runtime."""

import onnxruntime
from onnx import TensorProto, helper, save

x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "net", [x], [y])
save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=99), "model.onnx")

session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
print("loaded", session.get_outputs()[0].name)
