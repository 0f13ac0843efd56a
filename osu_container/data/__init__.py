"""Data about approaches and sites; every value has its reason and its source."""
