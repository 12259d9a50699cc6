"""Clusters of the plain Python allocator, and the lists they are on."""

from collections import OrderedDict

SWAPFILE_CLUSTER = 512


class Cluster:
    """struct swap_cluster_info; `on` is the list it is linked into."""

    def __init__(self, index):
        self.index = index
        self.count = 0
        self.flags = 0
        self.order = 0
        self.on = None

    def offset(self):
        return self.index * SWAPFILE_CLUSTER


class ClusterList(OrderedDict):
    """A struct list_head of clusters, keyed by index."""

    def first(self):
        return next(iter(self.values()))


def list_move_tail(ci, target):
    """Also list_add_tail(), for a cluster on no list."""
    if ci.on is not None:
        del ci.on[ci.index]
    target[ci.index] = ci
    ci.on = target
