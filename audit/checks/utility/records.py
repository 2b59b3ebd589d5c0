"""Recorded utility checks: which judge reads which kind of record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from audit.base.errors import InvalidCertificate
from audit.checks.utility.base import UtilityJudgement, judge_evidence, judgement_record
from audit.checks.utility.consistency import ConsistencyCheck, ConsistencyTerms
from audit.checks.utility.curve import CurveEvidence
from audit.checks.utility.guarantee import GuaranteeCheck, GuaranteeEvidence, GuaranteeTerms
from audit.checks.utility.inequality import InequalityCheck, InequalityEvidence, InequalityTerms
from audit.checks.utility.lower_bound import LowerBoundCheck, LowerBoundTerms
from audit.checks.utility.plain import from_plain
from audit.checks.utility.rate import RateCheck
from audit.checks.utility.rate_terms import RateTerms


class Form(NamedTuple):
    """What a record of one kind holds, and who judges it."""

    terms: type[Any]
    evidence: type[Any]
    judge: Callable[[Any, Any, float], UtilityJudgement]


FORMS: dict[str, Form] = {
    InequalityCheck.kind: Form(InequalityTerms, InequalityEvidence, InequalityCheck.judge),
    GuaranteeCheck.kind: Form(GuaranteeTerms, GuaranteeEvidence, GuaranteeCheck.judge),
    ConsistencyCheck.kind: Form(ConsistencyTerms, CurveEvidence, ConsistencyCheck.judge),
    RateCheck.kind: Form(RateTerms, CurveEvidence, RateCheck.judge),
    LowerBoundCheck.kind: Form(LowerBoundTerms, CurveEvidence, LowerBoundCheck.judge),
}


def judged_again(record: Mapping[str, Any]) -> dict[str, Any]:
    """The judged part of a utility record, computed from its terms and its evidence alone.

    Raises
    ------
    InvalidCertificate
        When the record does not have its form.
    """
    form = FORMS[record["kind"]]
    try:
        terms = from_plain(form.terms, record["claim"]["terms"])
        evidence = from_plain(form.evidence, record["evidence"])
        judgement = judge_evidence(form.judge, terms, evidence, float(record["settings"]["significance"]))
    except InvalidCertificate:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, AssertionError) as error:
        raise InvalidCertificate(f"the record of a check does not have its form: {error!r}") from error
    return judgement_record(judgement)
