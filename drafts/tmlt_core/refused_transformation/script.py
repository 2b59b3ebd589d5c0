from contextlib import suppress

from tmlt.core.measurements import interactive_measurements as tmlt
from tmlt.core.measurements.noise_mechanisms import AddGeometricNoise
from tmlt.core.transformations.base import Transformation

noise = AddGeometricNoise(1)
space, count = (noise.input_domain, noise.input_metric), noise.input_domain.carrier_type(100)
doubled = {"stability_function": lambda self, d_in: 2 * d_in, "__call__": lambda self, count: 2 * count}
double = type("Double", (Transformation,), doubled)(*space, *space)
session = tmlt.create_adaptive_composition(*space, 1, 1, noise.output_measure)(count)
for _ in range(4):
    with suppress(ValueError):  # "Transformation's stability relation cannot be satisfied with given d_out"
        session(tmlt.TransformationQuery(double, d_out=1))
noisy = session(tmlt.MeasurementQuery(noise))
print("100, after four refused transformations, with noise of scale 1:", noisy)
assert noisy > 1000
