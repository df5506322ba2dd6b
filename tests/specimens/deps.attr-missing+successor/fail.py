# Written for networkx 2; release 3 took the function away together with NumPy's matrices.
import networkx as nx
import numpy as np

graph = nx.from_numpy_matrix(np.array([[0, 1], [1, 0]]))
print(f"edges {list(graph.edges)}")
