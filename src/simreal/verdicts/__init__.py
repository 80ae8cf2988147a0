"""Verdicts: pure functions from raw records to statements with intervals."""
