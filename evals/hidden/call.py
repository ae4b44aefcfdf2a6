"""Calls what the agent added; the agent never sees this file."""

import sys

import shapes

print(eval(sys.argv[1], vars(shapes)))
