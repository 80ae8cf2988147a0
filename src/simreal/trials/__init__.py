"""Trials: a plan that is fixed and hashed before training, and its execution."""
