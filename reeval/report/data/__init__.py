"""How do people read data questions: accuracy, why one did not pass, both queries, the agent's response?"""
