"""Quotations are compared with sentences by their words of prose."""

from benchmarks import quotations

TEXT = r"""We show more. Lemma 2. By the triangle inequality, any set of points x𝑥x\in\mathcal{X} has size at most
m𝑚m. Then the last step follows from a bound."""


def test_a_whole_sentence_agrees_and_a_cut_or_changed_one_does_not():
    sentences = quotations.sentences_of(TEXT)
    assert (
        quotations.left_out("By the triangle inequality, any set of points x in X has size at most m.", sentences) == []
    )
    assert quotations.left_out("any set of points x in X has size at most m.", sentences) == ["triangle", "inequality"]
    assert quotations.left_out("By the triangle inequality, any pair of points has size at most m.", sentences) is None
    assert quotations.left_out("Then the last step follows.", sentences) == ["from", "bound"]


def test_the_lists_of_the_pages_hold_quotations_and_a_cut_one_is_printed(tmp_path, capsys):
    assert sum(len(quotations.quotations_of(page)) for page in quotations.PAPERS) >= 40
    for page, paper in quotations.PAPERS.items():
        said = " ".join(quotations.quotations_of(page))
        (tmp_path / f"{paper}.txt").write_text("Some words lead. " + said + " And some follow.")
    assert quotations.main(str(tmp_path)) == 0
    (tmp_path / "label-vector.txt").write_text("The paper says something else.")
    assert quotations.main(str(tmp_path)) == 1
    assert "label-privacy: " in capsys.readouterr().out
