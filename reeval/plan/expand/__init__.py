"""What does one eval expand to: harnesses, environments, sandboxes, cells, questions?"""
