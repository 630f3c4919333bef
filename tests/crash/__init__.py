"""Processes that are killed while they run a graph."""
