"""Stores: what is remembered across threads."""
