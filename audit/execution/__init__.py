"""Run code: in batches with seeds of their own, within a deadline, in other processes, on a cluster."""
