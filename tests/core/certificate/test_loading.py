"""A certificate is read from a regular file of bounded size; whatever else a path leads to is refused at once."""

import os
import threading

import pytest

from audit.certificate import loading
from audit.certificate.document import load_certificate
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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_without_a_writer_is_refused_at_once(tmp_path):
    pipe = tmp_path / "certificate.json"
    os.mkfifo(pipe)
    found = []

    def read():
        try:
            load_certificate(tmp_path)
        except InvalidCertificate as error:
            found.append(str(error))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(timeout=20)
    assert found
    assert "not a regular file" in found[0]


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such device here")
def test_a_file_without_an_end_is_refused(tmp_path, capsys):
    (tmp_path / "certificate.json").symlink_to("/dev/zero")
    status, said = status_of(capsys, "verify", str(tmp_path))
    assert status == 65
    assert "not a regular file" in said.err


def test_a_file_may_have_the_largest_size_and_no_byte_more(tmp_path, monkeypatch):
    path = tmp_path / "certificate.json"
    path.write_text('{"checks": []}')
    monkeypatch.setattr(loading, "LARGEST_FILE", path.stat().st_size)
    assert loading.load_json(path) == {"checks": []}
    path.write_text('{"checks": [] }')
    with pytest.raises(InvalidCertificate, match="more than 14 bytes"):
        loading.load_json(path)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": 1, "a": 2}', "NaN", "1e999", "9" * 101, "\udcff"])
def test_what_has_two_meanings_is_refused(tmp_path, text):
    path = tmp_path / "certificate.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InvalidCertificate, match="cannot be read as a certificate"):
        loading.load_json(path)


def test_a_folder_without_a_certificate_is_missing(tmp_path):
    with pytest.raises(MissingCertificate):
        load_certificate(tmp_path)
