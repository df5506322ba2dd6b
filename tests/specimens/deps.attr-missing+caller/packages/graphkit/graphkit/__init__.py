import networkx
import numpy


def edges(adjacency):
    return list(networkx.from_numpy_array(numpy.array(adjacency)).edges)
