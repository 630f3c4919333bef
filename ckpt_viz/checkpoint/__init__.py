"""Savers: where checkpoints are kept."""
