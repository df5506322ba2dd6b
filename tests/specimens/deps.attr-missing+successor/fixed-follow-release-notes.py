# What the release notes name in its place.
import networkx as nx
import numpy as np

graph = nx.from_numpy_array(np.array([[0, 1], [1, 0]]))
print(f"edges {list(graph.edges)}")
