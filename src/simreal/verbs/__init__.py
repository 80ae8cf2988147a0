"""The verbs of the command line, a function each. Heavy imports happen inside them."""
