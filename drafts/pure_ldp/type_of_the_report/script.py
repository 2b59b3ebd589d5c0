from pure_ldp.frequency_oracles.hadamard_mechanism import HadamardMechClient

client = HadamardMechClient(1.0, 4, None, use_optimal_t=True)
reports = [client.privatise(1) for _ in range(1000)]
kinds = {type(report).__name__ for report in reports}
print("types of 1000 reports of one user:", kinds)
assert kinds == {"list", "zip"}
