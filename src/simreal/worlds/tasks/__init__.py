"""One small file a task."""
