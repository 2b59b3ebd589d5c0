import pandas as pd
from dpmm.pipelines import MSTPipeline


def fits(records):
    frame = pd.DataFrame(records, columns=["a"]).astype("category")
    pipeline = MSTPipeline(0.9, 1e-5, n_jobs=1, gen_kwargs={"n_iters": 2}, proc_epsilon=0.1)
    try:
        pipeline.fit(frame, {"a": {"categories": [0, 1]}})
    except ValueError as error:
        return repr(error)


left, right = fits([[0], [1]]), fits([[0], [1], [2]])
print(left, "and", right)
assert left is None
assert right
