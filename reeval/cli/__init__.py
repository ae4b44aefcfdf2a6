"""The command line: one small file per command that parses, wires, calls and prints."""
