"""How is the config file's text read, and its problems said?"""
