"""Certificates: records as plain data, the document, its verification, summaries and renderings."""
