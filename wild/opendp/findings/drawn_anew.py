from opendp.meas import make_randomized_response_bool
from opendp.mod import enable_features

enable_features("contrib")
response = make_randomized_response_bool(prob=0.75)
assert response.check(1, 1.0987)  # log 3 is claimed
left, right = (sum(not response(record) for _ in range(20_000)) for record in (False, True))
print(left, "and", right, "of 20000 answers are False: odds of", left / right)
assert left > 8 * right
