"""Which table holds the answers to data questions, and which rows do they become?"""
