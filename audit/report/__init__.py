"""Certificates and how they are shown. Renderers read a certificate's plain data and nothing else."""
