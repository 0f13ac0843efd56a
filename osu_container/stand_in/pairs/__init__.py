"""
Random pairs of an image and a host: what `osu-container check` says of them, beside what happens when they run.

cases.py says what is drawn, parts.py and making.py make it, running.py predicts, runs and compares, shrinking.py finds
the smallest case that differs, cli.py is the command stand-in/pairs.
"""
