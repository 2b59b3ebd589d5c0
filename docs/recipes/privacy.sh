#!/bin/sh
# Audit, verify and compare, whatever the verdict; the exit status is that of the audit, else of what came after it.
dp-audit run mylib.audits --out certificate
verdict=$?
dp-audit verify certificate || failed=$?
if [ -f reference/certificate.json ]; then dp-audit diff reference certificate || failed=$?; fi
[ "$verdict" -ne 0 ] && exit "$verdict"
exit "${failed:-0}"
