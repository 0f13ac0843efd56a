"""
`osu-container try`: what an image does on this system, without an installation, in one file to
send.
"""
