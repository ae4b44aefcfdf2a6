"""How does an attempt run on this machine without a container?"""
