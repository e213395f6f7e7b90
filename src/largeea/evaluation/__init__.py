"""Accuracy of an answer: ranking, precision and recall, calibration. Only this room may use test links.

Ranking protocols: *paper* ranks each test source against the test targets only; *open*, the default, ranks it
against all targets that can be linked and are not seeds. A tie gets the mean of its best and worst rank. A
true target that was not kept as a candidate is a miss.

Pairs are judged twice. Over *all* pairs, a pair that is not a test link is wrong: right where the links are
complete. Over pairs with a *linked end*, only pairs with an entity in a test link count: for links that cover
a part of the graphs, where other pairs cannot be judged.

Where an entity has several counterparts, each link is judged and ranked: the other counterparts of its source
do not count as better. Clusters, the entities that pairs join, are judged by the pairs in them and by
B-cubed. Within one graph, the true pairs are all pairs of a true cluster.
"""

from largeea.evaluation.judging import (
    accepted_pairs,
    cluster_figures,
    evaluate,
    known_links,
    no_counterpart,
    no_counterpart_reliability,
    pair_reliability,
    pseudo_seeds,
    true_pairs,
    with_a_linked_end,
    without_known,
)
from largeea.evaluation.measures import PrecisionRecall, Reliability
from largeea.evaluation.ranks import protocols, ranked_links, ranking, realistic_ranks

__all__ = [
    "PrecisionRecall",
    "Reliability",
    "accepted_pairs",
    "cluster_figures",
    "evaluate",
    "known_links",
    "no_counterpart",
    "no_counterpart_reliability",
    "pair_reliability",
    "protocols",
    "pseudo_seeds",
    "ranked_links",
    "ranking",
    "realistic_ranks",
    "true_pairs",
    "with_a_linked_end",
    "without_known",
]
