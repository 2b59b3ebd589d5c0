"""Have numerical libraries use one thread: in worker processes, which fill the cores already, and to read outputs.

Threads of BLAS that outnumber the cores wait for each other in loops that burn CPU time, and sums that are taken in
another order are others in the last digits.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache

from threadpoolctl import ThreadpoolController

_ALL = "OMP_NUM_THREADS"  # read by every library that finds no variable of its own
_OWN = {
    "openblas": "OPENBLAS_NUM_THREADS",
    "mkl": "MKL_NUM_THREADS",
    "blis": "BLIS_NUM_THREADS",
    "accelerate": "VECLIB_MAXIMUM_THREADS",
}


def with_one_thread(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a worker process: one thread for each library, unless the user chose a number."""
    if _ALL in environment:
        return dict(environment)
    return {**dict.fromkeys((_ALL, *_OWN.values()), "1"), **environment}


@contextmanager
def one_thread() -> Iterator[None]:
    """Do with one thread of BLAS what is done within, unless the user chose a number."""
    if {_ALL, *_OWN.values()} & os.environ.keys():
        yield
        return
    with _libraries(len(sys.modules)).limit(limits=1, user_api="blas"):
        yield


def one_thread_of_openmp() -> AbstractContextManager[object]:
    """Have trees use one thread, whatever the user chose: sums in another order would give another model.

    To predict takes milliseconds in one thread. Several wait for each other in loops, for long where cores are shared.
    """
    return _libraries(len(sys.modules)).limit(limits=1, user_api="openmp")


@lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:
    """Return what is loaded; libraries that are loaded later come with further `modules`."""
    return ThreadpoolController()


def use_one_thread() -> None:
    """Do so in this process: limit the libraries that are loaded, and set the environment of those to come.

    OpenMP has no choice where this process was forked: GNU's library hangs if it had several threads before the fork.
    """
    chosen = {library for library, variable in _OWN.items() if {variable, _ALL} & os.environ.keys()}
    for library in ThreadpoolController().lib_controllers:
        if library.internal_api not in chosen:
            library.set_num_threads(1)
    os.environ.update(with_one_thread(os.environ))
