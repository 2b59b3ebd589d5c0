"""Functions for calls in other processes, in a module without imports of weight: each new process imports it."""

import os
import time


def divide(a, b):
    return a / b


def end():
    os._exit(3)


def print_and_call(function, *arguments):
    print("said", flush=True)
    return function(*arguments)


class CannotTravel(Exception):
    """Can be pickled, and not unpickled: its constructor wants two arguments."""

    def __init__(self, a, b):
        super().__init__(a)


def raise_what_cannot_travel():
    raise CannotTravel("here", 2)


def write_own_number(path):
    path.with_suffix(".part").write_text(str(os.getpid()))
    path.with_suffix(".part").rename(path)
    time.sleep(1e6)
