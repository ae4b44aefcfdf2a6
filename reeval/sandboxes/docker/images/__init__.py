"""What does a container start from?"""
