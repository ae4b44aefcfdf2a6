"""How is a program called, read and understood?"""
