"""Test a claim about Renyi divergences by the divergence itself, where no single point of its curve is refuted."""
