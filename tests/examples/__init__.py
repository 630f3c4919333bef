"""Three documented examples: what they show must come out here, to the byte where it is bytes."""
