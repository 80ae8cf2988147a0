"""Where work runs and what it used: executors and meters."""
