import pandas as pd
import snsql

people = {"max_ids": 1, "censor_dims": False, "u": {"type": "int", "private_id": True}, "v": {"type": "float"}}
frame = pd.DataFrame({"u": range(100), "v": 1.0})
reader = snsql.from_df(frame, privacy=snsql.Privacy(epsilon=1.0, delta=1e-6), metadata={"": {"T": {"T": people}}})
query = "SELECT COUNT(*) AS n FROM T.T"
answers = [float(next(iter(reader.execute(query, postprocess=False)))[0]) for _ in range(100)]
print("mean of 100 answers at epsilon = 1 each:", sum(answers) / 100, "; the odometer says", reader.odometer.spent)
assert len(set(answers)) > 1
assert reader.odometer.spent[0] == 0
reader.execute(query)
assert reader.odometer.spent[0] > 0
