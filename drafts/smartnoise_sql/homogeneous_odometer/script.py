from snsql import Privacy
from snsql.sql.odometer import Odometer

odometer = Odometer(Privacy(epsilon=0.1, delta=0.01))
odometer.spend(100)
_, delta = odometer.spent
told = 1 - 0.99**100  # a mechanism that is (0.1, 0.01)-private may tell the record with probability 0.01
print("one of 100 answers tells the record with probability", told, "and the odometer says delta =", delta)
assert delta < 0.9 * told
