"""A job that does nothing: whether a guest boots at all."""


def run(params):
    return ()
