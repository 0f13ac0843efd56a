"""Data only: approaches and sites, every value with its reason and source."""
