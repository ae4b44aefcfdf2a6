"""Which data questions and certified queries do a project's files declare?"""
