"""How is the body of an eval run, and what does it see?"""
