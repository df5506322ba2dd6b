"""A model in bfloat16, for which the CPU has no kernel of this operator."""

import onnxruntime
from onnx import TensorProto, helper

DTYPE = TensorProto.BFLOAT16
x = helper.make_tensor_value_info("x", DTYPE, [1, 3, 8, 8])
y = helper.make_tensor_value_info("y", DTYPE, None)
graph = helper.make_graph([helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2])], "net", [x], [y])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)

session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
print("loaded", session.get_outputs()[0].name)
