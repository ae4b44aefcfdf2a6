"""Why are two results not the same?"""
