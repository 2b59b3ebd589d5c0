"""Parts that several mechanisms are built of, each written once, with its law.

`vote` counts votes and knows how far they are from another winner, `sparse_vector` tests queries against a noisy
threshold, `thresholded_count` releases the counts that are large enough, `exponential` chooses by errors, `thresholds`
trains the least class that learns anything, and `records` takes features and labels or refuses them.
"""
