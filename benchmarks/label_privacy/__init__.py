"""Accuracy and cost of learning from private labels: the vector mechanism and its baselines.

    python -m benchmarks.label_privacy smoke     three numbers of classes of the synthetic comparison, 35 s of CPU time
python -m benchmarks.label_privacy full      all of it, 37 minutes measured on a busy machine; writes
docs/label-privacy-accuracy.svg
    python -m benchmarks.label_privacy digits    scikit-learn's digits, 14 minutes measured on a busy machine
    python -m benchmarks.label_privacy cost      seconds a label, K = 10 to 10,000
"""
