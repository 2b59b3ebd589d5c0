import pandas as pd
from trasgodp.geoindis import metric_privacy

table = pd.DataFrame([[0.0, 0.0]], columns=["lat", "lon"])
released = {tuple(metric_privacy(table, "lat", "lon", 0.01)[["lat", "lon"]].iloc[0]) for _ in range(20)}
print(released)
assert len(released) == 1
