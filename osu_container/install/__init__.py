"""Putting an installation on disk."""
