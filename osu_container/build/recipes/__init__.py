"""
What the recipes of container-recipes/ are made of: images by name, versions with sums, building
blocks.
"""
