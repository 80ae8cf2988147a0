"""Simulated worlds: tasks, randomization, physics, rendering. Radians and metres live here."""
