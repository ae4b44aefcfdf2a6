"""What is in place in the process while attempts run?"""
