"""Where does an agent's program come from, and which version is it?"""
