# A package that was written for networkx 2 stands beside networkx 3.
import graphkit

print(f"edges {graphkit.edges([[0, 1], [1, 0]])}")
