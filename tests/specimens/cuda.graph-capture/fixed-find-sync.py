"""Nothing is read from the GPU while a CUDA graph is captured."""

import torch

model = torch.nn.Linear(4, 2, device="cuda")
x = torch.rand(8, 4, device="cuda")


def step():
    out = model(x)
    return out / out.abs().max().clamp(min=1e-6)


stream = torch.cuda.Stream()
stream.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(stream), torch.no_grad():
    for warm_up in range(3):
        step()
torch.cuda.current_stream().wait_stream(stream)

graph = torch.cuda.CUDAGraph()
with torch.no_grad(), torch.cuda.graph(graph):
    out = step()
graph.replay()
print("largest", round(float(out.abs().max()), 2))
