"""Tests of the savers and of the serializer."""
