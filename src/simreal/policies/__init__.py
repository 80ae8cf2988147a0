"""Policies: preprocessing, the compact network, checkpoints, the one training loop."""
