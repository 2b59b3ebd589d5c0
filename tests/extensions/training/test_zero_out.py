"""Which datasets are neighboring where a record is blanked."""

from audit import Labeled, PrivacyClaim, ZeroOut
from audit.claims import claim_of, claim_record
from tests.offenders import for_each

NAN = float("nan")


@for_each(
    [
        (ZeroOut(), [3, 4], [0, 4], None),
        (ZeroOut(), [[1, 2], [3, 4]], [[1, 2], [0, 0]], None),
        (ZeroOut(), ["a", "b"], ["a", None], None),
        (ZeroOut(), [3.0, 4.0], [NAN, 4.0], None),
        (ZeroOut(), [3, 4], [5, 4], "blank in neither"),
        (ZeroOut(), [3, 4], [0, 0], "2 records were replaced"),
        (ZeroOut(), [3], [0, 0], "1 and 2 records"),
        (ZeroOut(), Labeled([1.0, 2.0], [1, 1]), Labeled([1.0, 0.0], [1, 0]), None),
    ]
)
def test_a_record_is_blank_on_one_side(relation, left, right, reason):
    found = relation.why_not(left, right)
    assert found is None if reason is None else reason in found
    assert (relation.why_not(right, left) is None) == (reason is None)


def test_a_certificate_names_the_relation():
    record = claim_record(PrivacyClaim(1.0, relation=ZeroOut()))
    assert record["relation"].startswith("zero-out (defined by audit.extensions.training.")
    assert claim_of(record).relation.name == "zero-out"
