"""How are two compared runs shown?"""
