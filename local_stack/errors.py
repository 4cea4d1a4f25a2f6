"""The one exception whose text is meant for the person at the terminal."""


class StackError(Exception):
    """What is wrong and what to do about it, in whole sentences."""
