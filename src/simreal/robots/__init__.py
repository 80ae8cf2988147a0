"""Targets: twins, real robots, and the safety layer between a policy and either."""
