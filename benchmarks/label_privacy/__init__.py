"""Tables of the page on label privacy: `python -m benchmarks.label_privacy NAME ...`."""
