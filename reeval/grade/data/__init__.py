"""What did an agent answer to a data question, how did that end, and what do all of them add up to?"""
