"""Outputs, scores and counts of files: every shape of file is read, right claims are kept, wrong ones refuted."""

import gzip
import json
import re
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import audit
from audit import PrivacyClaim
from audit.api import InvalidArgument
from audit.cli import cli
from audit.extensions.files.function import takes_size
from audit.extensions.files.tables import read_columns, read_pair, read_sides

NUMBERS = np.array([0.5, -1.25, 3.0])


def read_outputs(path, names=()):
    return read_pair(path, path, names)[0]


@pytest.mark.parametrize(
    ("left", "right", "held"),
    [
        ("n,m\n1,2\n", "n,k\n1,2\n", "'m' and 'n', .* has 'k' and 'n'"),
        ("yes\nno\nyes\n", "1\n2\n", "texts, .* has numbers"),
        ("1\n2\n", "n,k\n1,2\n", "numbers, .* has 'k' and 'n'"),
    ],
)
def test_files_with_other_columns_are_not_compared(left, right, held, tmp_path):
    (tmp_path / "l.csv").write_text(left)
    (tmp_path / "r.csv").write_text(right)
    with pytest.raises(InvalidArgument, match=f"same columns: .* has {held}; choose columns with --column"):
        read_pair(tmp_path / "l.csv", tmp_path / "r.csv")


def test_columns_of_two_files_are_joined_by_their_names(tmp_path):
    (tmp_path / "l.csv").write_text("n,m\n1,2\n")
    (tmp_path / "r.csv").write_text("m,n\n2,1\n")
    assert np.array_equal(*read_pair(tmp_path / "l.csv", tmp_path / "r.csv"))


def test_a_first_line_that_comes_again_is_an_output(tmp_path):
    (tmp_path / "a.txt").write_text("yes\nno\nyes\n")
    assert read_outputs(tmp_path / "a.txt") == ["yes", "no", "yes"]


def test_a_json_object_with_both_lists_is_refused_with_what_to_save(tmp_path):
    (tmp_path / "a.json").write_text('{"left": [1], "right": [2]}')
    with pytest.raises(InvalidArgument, match="save 'left' and 'right' as files of their own"):
        read_outputs(tmp_path / "a.json")


def laplace(shift, size=40_000):
    return np.random.default_rng([7, int(100 * shift)]).laplace(shift, 1.0, size)


def called(*arguments):
    done = CliRunner().invoke(cli, [str(argument) for argument in arguments], standalone_mode=False)
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.return_value, done.output


def write_csv(path, header=()):
    path.write_text("".join(f"{line}\n" for line in [*header, *map(repr, NUMBERS.tolist())]))


def write_jsonl(path):
    path.write_text("".join(f"{json.dumps({'count': number})}\n" for number in NUMBERS.tolist()))


def write_parquet(path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"count": NUMBERS}), path)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("a.csv", write_csv),
        ("b.csv", lambda path: write_csv(path, ["count"])),
        ("c.npy", lambda path: np.save(path, NUMBERS)),
        ("d.jsonl", write_jsonl),
        ("e.jsonl", lambda path: path.write_text("0.5\n-1.25\n3.0\n")),
        ("f.parquet", write_parquet),
        ("b.csv", lambda path: pd.DataFrame({"count": NUMBERS}).to_csv(path)),  # with its index
        ("g.txt", lambda path: np.savetxt(path, NUMBERS)),
        ("h.tsv", lambda path: path.write_text("count\n0.5\n-1.25\n3.0\n")),
        ("i.json", lambda path: path.write_text("[0.5, -1.25, 3.0]")),
        ("j.csv.gz", lambda path: path.write_bytes(gzip.compress(b"0.5\n-1.25\n3.0\n"))),
    ],
)
def test_every_kind_of_file_gives_the_same_numbers(tmp_path, name, write):
    write(tmp_path / name)
    assert np.array_equal(read_outputs(tmp_path / name), NUMBERS)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_one_file_is_split_by_the_column_that_names_the_dataset(tmp_path, separator):
    file = tmp_path / "both.csv"
    file.write_text("".join(separator.join(row) + "\n" for row in (["side", "n"], ["b", "1"], ["a", "2"], ["b", "3"])))
    sides = read_sides(file, "side")
    assert list(sides) == ["b", "a"]
    assert [side.tolist() for side in sides.values()] == [[1, 3], [2]]
    with pytest.raises(InvalidArgument, match="must hold two values, one for each dataset, got 3"):
        read_sides(file, "n")


def test_whole_numbers_keep_all_digits(tmp_path):
    (tmp_path / "a.csv").write_text(f"n\n{2**53 + 1}\n{-(2**53) - 1}\n")
    assert read_outputs(tmp_path / "a.csv").tolist() == [2**53 + 1, -(2**53) - 1]


def test_columns_are_chosen_by_name_and_several_are_one_array(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("n,s,word\n1,2.5,x\n3,4.5,y\n")
    assert np.array_equal(read_outputs(file, ["s", "n"]), [[2.5, 1.0], [4.5, 3.0]])
    assert read_outputs(file, ["n", "word"]) == [{"n": 1, "word": "x"}, {"n": 3, "word": "y"}]
    with pytest.raises(InvalidArgument, match="no column 'm': it has 'n', 's', 'word'"):
        read_columns(file, ["m"])


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "1,2\n3\n", "row 2 has 1 entries, expected 2"),
        ("a.csv", "score\n", "names of columns, and no row"),
        ("a.csv", "a,b\n", "names of columns, and no row"),
        ("a.csv", "\n", "it is empty"),
        ("a.jsonl", '{"a": 1}\n{"a":', "line 2"),
        ("a.npy", "no array", "cut off"),
        ("a.npz", "1\n", "numpy.save"),
        ("a.json", '{"a": 1}', "must hold a list of outputs, got dict"),
    ],
)
def test_a_file_that_is_cut_off_or_unknown_is_refused(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    with pytest.raises(InvalidArgument, match=said):
        read_outputs(tmp_path / name)


@pytest.mark.false_alarm(1e-6)
def test_a_right_claim_is_kept_and_twice_the_epsilon_is_refuted():
    """The null of the first: Laplace noise at exactly epsilon = 1; 150,000 outputs on each dataset."""
    left, right = laplace(0.0, 150_000), laplace(1.0, 150_000)
    assert audit.check_outputs(left, right, PrivacyClaim(1.0)).verdict == "PASS"
    wrong = audit.check_outputs(left, laplace(2.0, 150_000), PrivacyClaim(1.0))
    assert wrong.verdict == "FAIL"
    assert wrong.epsilon_lower_bound > 1.8
    assert "SHA-256" in str(wrong)


@pytest.mark.parametrize("seed", range(3))
def test_events_are_chosen_for_the_level_at_which_given_outputs_refute(seed):
    """Gaussian noise at (2, 1e-5): the best events at the significance are too rare to refute (1, 1e-5) at 1e-6."""
    rng = np.random.default_rng(seed)
    left, right = rng.normal(size=100_000), 0.502 + rng.normal(size=100_000)
    assert audit.check_outputs(left, right, PrivacyClaim(1.0, 1e-5)).verdict == "FAIL"


def test_the_same_seed_gives_the_same_evidence_and_every_output_is_used_once():
    left, right = laplace(0.0), laplace(2.0)
    first, again = (audit.check_outputs(left, right, PrivacyClaim(1.0), seed=3) for _ in range(2))
    assert first.record() == again.record()
    assert first.verdict == "FAIL"
    assert first.samples <= len(left) + len(right)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (np.sort, "is sorted"),
        (lambda numbers: np.sort(numbers)[::-1], "is sorted"),
        (lambda numbers: np.random.default_rng(0).choice(numbers, len(numbers)), "resampled or written twice"),
        (lambda numbers: np.tile(numbers[:10_000], 4), "resampled or written twice"),
        (lambda numbers: np.random.default_rng(0).choice(np.float32(numbers), len(numbers)), "resampled"),
        (lambda numbers: np.c_[numbers, np.arange(len(numbers))], "a column is sorted, .* --column"),
        (lambda numbers: numbers[:500], "at least 1,000 are needed"),
    ],
)
def test_lists_that_no_independent_runs_give_are_refused(spoil, said):
    left, right = laplace(0.0), laplace(1.0)
    with pytest.raises(InvalidArgument, match=said):
        audit.check_outputs(spoil(left), right, PrivacyClaim(1.0))
    with pytest.raises(InvalidArgument, match=said):
        audit.check_outputs(left, spoil(right), PrivacyClaim(1.0))


@pytest.mark.parametrize(
    ("repeat", "said"),
    [
        (lambda numbers: numbers, "left and right hold the same outputs"),
        (np.round, "left and right hold the same outputs"),
        (lambda numbers: [f"{number:.0f}" for number in numbers], "left and right hold the same outputs"),
        (lambda numbers: numbers[::-1], "left and right together: .* numbers with 12 digits or more repeat"),
    ],
)
def test_one_list_for_both_datasets_is_refused(repeat, said):
    """150,000 outputs given twice by mistake would be a PASS."""
    numbers = laplace(0.0, 150_000)
    left = repeat(numbers) if "same" in said else numbers
    with pytest.raises(InvalidArgument, match=said):
        audit.check_outputs(left, repeat(numbers), PrivacyClaim(1.0))


def test_a_constant_output_on_both_datasets_is_judged():
    result = audit.check_outputs(np.zeros(2_000), np.zeros(2_000), PrivacyClaim(1.0))
    assert (result.verdict, "never varied" in result.reason) == ("INCONCLUSIVE", True)


@pytest.mark.parametrize(
    "coarsen",
    [
        np.round,
        lambda x: np.round(x, 2),
        lambda x: (x + 64).astype(np.float32).astype(float),
        lambda x: np.clip(x, -1 / 3, 2 / 3),
        lambda x: np.where(x > 0.5, np.sqrt(2), -np.sqrt(2)),
        lambda x: np.round(x * 7) / 7,
    ],
)
def test_coarse_numbers_may_repeat(coarsen):
    """Also those with atoms of many digits, as clipped numbers and debiased responses have, and those of a grid."""
    left, right = (coarsen(laplace(shift)) for shift in (0.0, 2.0))
    assert audit.check_outputs(left, right, PrivacyClaim(1.0)).verdict == "FAIL"


class Tensor:
    """Numbers of another library, as NumPy reads them."""

    def __init__(self, numbers):
        self.numbers = numbers

    def __array__(self, dtype=None, copy=None):
        return np.array(self.numbers, dtype)


def list_containers(outputs):
    frames = [outputs, pd.DataFrame(outputs), Tensor(outputs), *([pd.Series(outputs)] if outputs.ndim == 1 else [])]
    return frames + ([list(outputs), outputs.tolist(), tuple(outputs.tolist())] if outputs.ndim == 1 else [])


def test_the_same_outputs_in_any_container_are_the_same():
    sides, claim = [laplace(shift, 4_000) for shift in (0.0, 0.01)], PrivacyClaim(1.0)
    for shape in (np.array, lambda side: np.round(side).astype(int), lambda side: np.column_stack([side, side])):
        lefts, rights = (list_containers(shape(side)) for side in sides)
        pairs = [(left, right) for left, same in zip(lefts, rights, strict=True) for right in (rights[0], same)]
        results = [audit.check_outputs(left, right, claim) for left, right in pairs]
        assert {result.verdict for result in results} == {"INCONCLUSIVE"}
        assert len({result.reason for result in results}) == 1
    numbers = sides[0]
    for none in (3, np.array(3.0), {1: 2}):
        with pytest.raises(InvalidArgument, match="`right` must be an array, a frame, or a list of outputs"):
            audit.check_outputs(numbers, none, claim)


@pytest.mark.false_alarm(1e-6)
def test_as_many_outputs_as_are_advised_give_a_pass():
    """The null of both: Laplace noise at epsilon = 0.9; at exactly 1, one of 20 runs would leave a doubt."""
    said = audit.check_outputs(laplace(0.0), laplace(0.9), PrivacyClaim(1.0)).reason
    advised = int(re.search(r"give ([\d,]+) outputs of each dataset", said)[1].replace(",", ""))
    assert audit.check_outputs(laplace(0.0, advised), laplace(0.9, advised), PrivacyClaim(1.0)).verdict == "PASS"


def test_outputs_may_be_words():
    left, right = (
        ["yes" if number < share else "no" for number in np.random.default_rng(seed).random(5_000)]
        for seed, share in ((0, 0.1), (1, 0.9))
    )
    assert audit.check_outputs(left, right, PrivacyClaim(1.0)).verdict == "FAIL"


def test_the_command_exits_by_the_verdict_and_writes_a_certificate(tmp_path):
    np.save(tmp_path / "left.npy", laplace(0.0))
    np.save(tmp_path / "right.npy", laplace(2.0))
    files = tmp_path / "left.npy", tmp_path / "right.npy"
    status, said = called("outputs", *files, "--epsilon", 1, "--out", tmp_path / "out")
    assert (status, said.splitlines()[0]) == (1, "FAIL: (1, 0)-DP under neighbors by substitution")
    assert "\\n" not in said
    assert audit.verify(tmp_path / "out") == []
    status, said = called("outputs", *files, "--epsilon", 4, "--tolerance", 4, "--json")
    assert (status, json.loads(said)["verdict"]) == (0, "PASS")
    rows = [f"{side},{number}\n" for side, shift in (("a", 0.0), ("b", 5.0)) for number in laplace(shift, 4_000)]
    (tmp_path / "both.csv").write_text("side,n\n" + "".join(rows))
    status, said = called("outputs", tmp_path / "both.csv", "--by", "side", "--epsilon", 1)
    assert (status, said.splitlines()[0]) == (1, "FAIL: (1, 0)-DP under neighbors by substitution")


def test_scores_are_split_by_a_column_or_by_files(tmp_path):
    rng = np.random.default_rng(0)
    members = rng.integers(0, 2, 4_000)
    rows = [f"{rng.normal(3.0 * member)!r},{member}\n" for member in members.tolist()]
    file = tmp_path / "scores.csv"
    file.write_text("loss,member\n" + "".join(rows))
    status, said = called("scores", file, "--score", "loss", "--member", "member", "--epsilon", 1)
    assert (status, said.startswith("FAIL")) == (1, True)
    columns = read_columns(file)
    for name, member in (("in.npy", 1), ("out.npy", 0)):
        np.save(tmp_path / name, columns["loss"][columns["member"] == member])
    status, said = called("scores", tmp_path / "in.npy", tmp_path / "out.npy", "--epsilon", 1)
    assert (status, said.startswith("FAIL")) == (1, True)


def test_counts_are_bounded():
    status, said = called("confusion", "--tp", 90, "--fp", 20, "--tn", 80, "--fn", 10)
    bounds = "epsilon is at least 1.442 and at most 3.002 at delta 0"
    assert (status, said.strip()) == (0, f"{bounds}, with probability 0.95 over the runs")
    status, said = called("confusion", "--tp", 1, "--fp", 0, "--tn", 1, "--fn", 0, "--json")
    assert json.loads(said)["upper"] == "inf"


@pytest.mark.parametrize("missing", ["--tp", "--fp", "--tn", "--fn"])
def test_a_missing_count_is_named_as_it_is_typed(missing):
    given = [part for option in {"--tp", "--fp", "--tn", "--fn"} - {missing} for part in (option, 5)]
    with pytest.raises(click.UsageError) as refused:
        called("confusion", *given)
    assert f"Missing option '{missing}'" in refused.value.format_message()


def test_a_column_of_other_words_than_1_and_0_is_no_membership(tmp_path):
    (tmp_path / "s.csv").write_text("score,label\n0.5,out\n1.5,in\n")
    with pytest.raises(InvalidArgument, match="must hold 1 for members and 0 for others, got 'in'"):
        called("scores", tmp_path / "s.csv", "--member", "label", "--epsilon", 1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("scores", "s.csv", "--score", "label", "--member", "label"), "'label' cannot hold both"),
        (("outputs", "left.npy"), "--by COLUMN"),
        (("scores", "roc.csv"), "a ROC curve has no counts"),
        (("scores", "s.csv"), "one of 'score', 'label'"),
    ],
)
def test_a_missing_part_is_named(tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    np.save("left.npy", laplace(0.0))
    Path("roc.csv").write_text("fpr,tpr\n0,0\n1,1\n")
    Path("s.csv").write_text("score,label\n0.5,0\n1.5,1\n")
    with pytest.raises(click.UsageError, match=said):
        called(*arguments, "--epsilon", 1)


def test_the_fixture_audits_given_outputs(dp_audit):
    rng = np.random.default_rng(0)
    left, right = rng.laplace(0, 1, 20_000), rng.laplace(1, 1, 20_000)
    assert dp_audit.outputs(left, right, PrivacyClaim(0.3), expected="FAIL").epsilon_lower_bound > 0.3


@pytest.mark.parametrize(
    ("function", "takes"),
    [
        (lambda data, size: data, True),
        (lambda data, number, rng: data, True),
        (lambda data, rng, scale=1.0: data, False),
        (lambda data, rng, *, scale: data, False),
    ],
)
def test_a_function_of_three_arguments_draws_many_outputs(function, takes):
    assert takes_size(function) == takes
