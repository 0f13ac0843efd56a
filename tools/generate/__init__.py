"""
What writes the files that people read: modules/, three of container-recipes/rendered/, tables of
docs/.
"""
