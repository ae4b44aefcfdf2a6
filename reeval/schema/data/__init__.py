"""What is a data question, and what does its query give?"""
