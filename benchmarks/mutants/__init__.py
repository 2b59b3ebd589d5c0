"""Change the code by one expression at a time, and see whether a test or a check notices."""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
os.environ["DP_AUDIT_ENUMERATION"] = "1"  # its tests are collected, which others start in processes of their own
