"""Data and building blocks of the recipes in container-recipes/."""
