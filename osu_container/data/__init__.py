"""Define data about approaches, networks, launchers and sites, with reasons and sources."""
