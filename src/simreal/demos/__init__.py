"""Demonstrations: experts, recording, storing (LeRobotDataset v3.0), mixing."""
