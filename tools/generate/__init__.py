"""Render the files that follow from data: modulefiles, recipes, easyconfigs and tables."""
