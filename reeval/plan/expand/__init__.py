"""What does a declared eval expand to: candidates, cells, sides, questions?"""
