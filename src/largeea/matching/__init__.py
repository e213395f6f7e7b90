"""From scores to the answer: fusion, Sinkhorn, knock-outs, confidence, assignment, decision."""
