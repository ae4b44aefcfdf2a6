"""How does a command run: started, read, ended with everything it started?"""
