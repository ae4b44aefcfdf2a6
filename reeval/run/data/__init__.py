"""How is a data question asked and graded in an attempt?"""
