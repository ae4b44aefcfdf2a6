"""What is one registered check?"""
