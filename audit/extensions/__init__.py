"""Extensions of the package, one folder each: they import `audit`, `audit.api` and themselves, and may be left out."""
