"""Deciding: settings of a module and the verdict, from data and facts."""
