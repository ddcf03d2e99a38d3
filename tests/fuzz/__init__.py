"""Mutated inputs for everything that reads what a stranger may have made.

``python -m tests.fuzz --inputs 1000000`` gives them to every loader.  Each input must end in the
loader's own error or in a right result: no other exception, no warning, no hang, no large memory.
"""
