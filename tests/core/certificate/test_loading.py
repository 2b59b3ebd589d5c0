"""A certificate is a file of JSON that all readers read alike; a missing one has a status of its own."""

import pytest

from audit.certificate.document import load_certificate, load_json
from audit.cli import main
from audit.errors import InvalidCertificate, MissingCertificate

COMMANDS = ("verify", "replay", "report")


def status_of(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code, capsys.readouterr()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_certificate_has_its_own_status(capsys, tmp_path, command):
    status, said = status_of(capsys, command, str(tmp_path / "nowhere"))
    assert status == 66
    assert "No such file" in said.err


def test_a_missing_certificate_of_a_comparison(capsys, tmp_path):
    assert status_of(capsys, "diff", str(tmp_path / "old"), str(tmp_path / "new"))[0] == 66


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": 1, "a": 2}', "NaN", "1e999", "9" * 10_001, "\udcff"])
def test_what_has_two_meanings_is_refused(tmp_path, text):
    path = tmp_path / "certificate.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InvalidCertificate, match="cannot be read as a certificate"):
        load_json(path)


def test_a_folder_without_a_certificate_is_missing(tmp_path):
    with pytest.raises(MissingCertificate):
        load_certificate(tmp_path)
