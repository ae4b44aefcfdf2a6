"""What does an agent behind a URL send back, and what does it mean when it sends something else?"""
