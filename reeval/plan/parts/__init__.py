"""What do the names in a plan stand for: harnesses, sandboxes, environments?"""
