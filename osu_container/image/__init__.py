"""
Read facts about container images, libraries and loaders from files, and execute no file.
"""
