"""What did the agent change in the workspace?"""
