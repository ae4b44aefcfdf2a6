"""How are whole recorded runs read to be compared?"""
