"""Composition root: puts worlds, targets, policies, trials and verdicts together."""
