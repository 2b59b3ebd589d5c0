import pandas as pd
from dpmm.pipelines import AIMPipeline


def values(records):
    frame = pd.DataFrame(records, columns=list("abc")).astype("category")
    domain = {column: {"categories": [0, 1]} for column in frame.columns}
    pipeline = AIMPipeline(0.9, 1e-5, n_jobs=1, gen_kwargs={"n_iters": 2, "rounds": 2}, proc_epsilon=0.1)
    pipeline.fit(frame, domain, random_state=0)
    return set(pipeline.generate(200)["a"])


left, right = values([[0, 0, 0], [0, 1, 1]]), values([[0, 0, 0], [0, 1, 1], [1, 0, 0]])
print("generated values of the first column:", left, "and", right)
assert left != right
