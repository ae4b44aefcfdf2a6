"""What do the command lines of coding agents have in common?"""
