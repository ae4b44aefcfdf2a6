"""How do commands run on the host: started, read, ended with everything they started?"""
