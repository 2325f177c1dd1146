"""The one exception that a user is meant to read."""


class UserError(Exception):
    """Bad input, told in one sentence.

    The message says what was found, where (``file:line``, key or row), what was
    expected and what to do. The command line prints it without a stack trace.
    """
