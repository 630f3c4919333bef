"""What the engine promises beyond its twin."""
