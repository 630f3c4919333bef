"""Readers of databases: savers that only read, for the schemas of LangGraph and of this package."""
