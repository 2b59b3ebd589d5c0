import numpy as np
import pandas as pd
from trasgodp.geoindis import metric_privacy

released = metric_privacy(pd.DataFrame([[0.0, 0.0]], columns=["lat", "lon"]), "lat", "lon", 0.01, seed=7).iloc[0]
distance = 6_371_000 * np.hypot(*np.radians([released["lat"], released["lon"]]))  # from the true location, 0 and 0
print("released radius", released["radius_m"], "true distance", distance)
assert abs(released["radius_m"] - distance) < 0.01 * distance
