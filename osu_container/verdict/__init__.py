"""Compute the settings of a module and judge an approach, from site data and facts."""
