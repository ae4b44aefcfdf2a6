"""What may a container connect to, and who holds it to that?"""
