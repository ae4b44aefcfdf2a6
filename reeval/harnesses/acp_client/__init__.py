"""How is an agent spoken to over the Agent Client Protocol?"""
