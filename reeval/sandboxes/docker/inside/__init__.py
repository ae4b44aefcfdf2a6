"""What can be done in a started container?"""
