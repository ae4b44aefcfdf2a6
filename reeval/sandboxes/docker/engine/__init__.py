"""How is a container engine spoken to?"""
