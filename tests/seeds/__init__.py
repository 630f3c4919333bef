"""The examples that the project grew from, as tests."""
