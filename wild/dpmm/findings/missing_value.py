import pandas as pd
from dpmm.pipelines import AIMPipeline


def missing(records):
    frame = pd.DataFrame(records, columns=["a", "b"]).astype("category")
    domain = {column: {"categories": [0, 1]} for column in frame.columns}
    pipeline = AIMPipeline(0.9, 1e-5, n_jobs=1, gen_kwargs={"n_iters": 2, "rounds": 2}, proc_epsilon=0.1)
    pipeline.fit(frame, domain, random_state=0)
    return int(pipeline.generate(200).isna().to_numpy().sum())


left, right = missing([[0, 0], [1, 1]]), missing([[0, 0], [1, 1], [None, 1]])
print(left, "and", right, "of 400 generated values are missing")
assert left == 0 < right
