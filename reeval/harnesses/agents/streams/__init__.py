"""How does what an agent prints become events?"""
