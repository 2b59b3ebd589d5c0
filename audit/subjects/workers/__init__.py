"""Where calls run: in this process, in local processes, on a cluster, or on any `concurrent.futures.Executor`."""

from concurrent.futures import Executor, ThreadPoolExecutor

from audit.subjects.workers.code import code_of, loaded_modules
from audit.subjects.workers.place import HERE, Place
from audit.subjects.workers.pool import LocalProcesses, Pool, ThisProcess

__all__ = ["HERE", "Place", "Pool", "code_of", "loaded_modules", "open_pool"]


def open_pool(place: Place) -> Pool:
    """Return a pool that is ready to work, for use in a `with` statement.

    Raises
    ------
    MissingExtra
        When the package `distributed` is needed and not installed.
    Unreachable
        When a cluster does not answer or has no workers.
    """
    if place.is_here:
        return ThisProcess(place, ThreadPoolExecutor(1), 1)
    if place.is_cluster:
        from audit.subjects.workers.cluster import Cluster

        return Cluster(place)
    from loky import cpu_count

    if isinstance(place.executor, Executor):
        return Pool(place, place.executor, place.workers or getattr(place.executor, "_max_workers", 0) or cpu_count())
    workers = place.workers or cpu_count()
    return LocalProcesses(place, ThreadPoolExecutor(workers), workers)
