"""From scores to the answer: fusion, Sinkhorn, calibration, assignment, decision."""
