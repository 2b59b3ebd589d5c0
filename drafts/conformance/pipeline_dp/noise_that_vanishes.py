from pipeline_dp.dp_computations import LaplaceMechanism

noise = LaplaceMechanism.create_from_epsilon(1.0, 5e-324)
a, b = ({noise.add_noise(value) for _ in range(1000)} for value in (5e-324, 0.0))
print("outputs at 5e-324 and at 0, where the sensitivity is 5e-324:", a, b)
assert not a & b
