"""The same program on both engines: whatever they show must be equal."""
