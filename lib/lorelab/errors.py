"""The ways a command may fail: the input was bad, or the run was."""


class BadInput(ValueError):
    """The caller asked for something that can't be; one line that says what and what to do.

    The command line prints it and exits with status 2.
    """


class NoModel(BadInput):
    """The model has no answer for these parameters, which a kernel may have been run with.

    A kernel run of them agrees with nothing: that is neither passed nor failed.
    """


class RunFailed(RuntimeError):
    """A run that was well asked for and did not finish; one line, and what to do.

    The command line prints it and exits with status 1.
    """
