import opendp.prelude as dp

dp.enable_features("contrib")
response = dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=0.5)
left, right = ({len(response(record)) for _ in range(1000)} for record in (b"\x01", b"\x00\x01"))
print("bytes released:", left, "and", right, "at epsilon", response.map(1))
assert left != right
