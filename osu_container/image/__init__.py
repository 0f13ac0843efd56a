"""
Read facts about images, libraries and loaders from files, without executing the files.
"""
