"""Data about approaches, networks, launchers and sites; each value has a reason and a source."""
