"""Caches of node results."""
