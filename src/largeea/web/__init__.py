"""Local web applications: the review app, the reconciliation service, and what both are served with."""
