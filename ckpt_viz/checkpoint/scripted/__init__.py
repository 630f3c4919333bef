"""The contract of a saver, written once as scripts, for savers that keep rows on a server."""
