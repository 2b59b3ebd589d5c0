"""A pool without isolation, for tests of what every pool does."""

import concurrent.futures
import threading

from audit.execution import sandbox, workers
from audit.execution.workers import Pool
from audit.mechanism.call import HERE


class Threads(Pool):
    """Calls in threads of this process, without isolation; remembers how many there were at a time."""

    def __init__(self, place=HERE, objects=(), shares=True):
        super().__init__(concurrent.futures.ThreadPoolExecutor(3), 3, run=self.here, shares=shares)
        self.now, self.most, self.calls, self.lock = 0, 0, 0, threading.Lock()

    def here(self, function, arguments, session, timeout):
        with self.lock:
            self.now, self.calls = self.now + 1, self.calls + 1
            self.most = max(self.most, self.now)
        try:
            kind, _, content = workers.run_pickle(function, arguments).partition(b" ")
            return sandbox.Outcome(kind.decode(), content)
        finally:
            with self.lock:
                self.now -= 1
