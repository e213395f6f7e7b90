"""What each stage of the method will need for two graphs, on one machine or on a cluster.

A run obeys the plan for one machine.
"""

from __future__ import annotations

from largeea.planning.cluster import Cluster, ClusterPlan, plan_cluster
from largeea.planning.enough import check_cluster
from largeea.planning.one_machine import make_plan
from largeea.planning.sizes import Sizes

__all__ = ["Cluster", "ClusterPlan", "Sizes", "check_cluster", "make_plan", "plan_cluster"]
