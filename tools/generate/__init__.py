"""Render files from the project's data: modulefiles, recipes, easyconfigs and tables."""
