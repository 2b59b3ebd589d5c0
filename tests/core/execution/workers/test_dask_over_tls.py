"""Against a real Dask cluster that talks over TLS only: certificates come from Dask's own configuration."""

import os

import numpy as np
import pytest
from cluster_subjects import judged
from local_cluster import Cluster

import audit
from audit import PrivacyCheck, PrivacyClaim
from audit.cli import main
from audit.errors import Unreachable
from audit.execution import dask as dask_module
from audit.execution.workers import Place, open_pool

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")
trustme = pytest.importorskip("trustme")


def certificates(folder, authority):
    """Write an authority, and one certificate for everybody; return their settings in Dask's configuration."""
    folder.mkdir()
    one = authority.issue_cert("127.0.0.1")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    one.private_key_pem.write_to_path(folder / "key.pem")
    one.cert_chain_pems[0].write_to_path(folder / "cert.pem")
    own = {f"{role}.{kind}": folder / f"{kind}.pem" for role in ("scheduler", "worker", "client") for kind in KINDS}
    return {"ca-file": str(folder / "ca.pem"), **{key: str(path) for key, path in own.items()}}


KINDS = ("cert", "key")


def configured(settings):
    return dask.config.set({f"distributed.comm.tls.{key}": value for key, value in settings.items()})


def environment(settings):
    names = {key: key.upper().replace(".", "__").replace("-", "_") for key in settings}
    return {f"DASK_DISTRIBUTED__COMM__TLS__{names[key]}": value for key, value in settings.items()}


@pytest.fixture(scope="module")
def trusted(tmp_path_factory):
    return certificates(tmp_path_factory.mktemp("tls") / "own", trustme.CA())


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory, trusted):
    """One worker; the scheduler requires encryption."""
    settings = {**environment(trusted), "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "True"}
    cluster = Cluster(tmp_path_factory.mktemp("encrypted"), workers=1, protocol="tls", settings=settings)
    yield cluster
    cluster.close()


def laplace(data, size, rng):
    return data.sum() + rng.laplace(size=size)


CHECKS = [
    PrivacyCheck(name="laplace", mechanism=laplace, claim=PrivacyClaim(1.0), pairs=[(np.zeros(2), np.r_[1.0, 0.0])])
]


def test_the_evidence_is_that_of_this_process(encrypted, trusted):
    assert encrypted.address.startswith("tls://")
    with configured(trusted):
        there = audit.run(CHECKS, budget=5_000, executor=encrypted.address)
    here = audit.run(CHECKS, budget=5_000, executor="serial")
    assert judged(there.certificate)["checks"] == judged(here.certificate)["checks"]


def test_without_certificates_it_is_one_sentence(encrypted, tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["run", "tests.core.mechanisms", "--executor", encrypted.address, "--out", str(tmp_path / "out")])
    assert stop.value.code == 64
    said = capsys.readouterr().err.strip()
    assert said.startswith("dp-audit: Dask's configuration must hold certificates (ca-file, client.cert and client.key")
    assert "\n" not in said


def test_so_is_a_file_that_is_no_certificate(encrypted, trusted):
    with configured({**trusted, "ca-file": os.devnull}), pytest.raises(Unreachable, match="must hold certificates"):
        open_pool(Place(encrypted.address))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_certificates_of_another_authority_are_not_accepted(encrypted, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_module, "ANSWER", 2.0)
    other = certificates(tmp_path / "other", trustme.CA())
    with (
        configured(other),
        pytest.raises(Unreachable, match=r"no Dask scheduler answers at tls://.* these certificates"),
    ):
        open_pool(Place(encrypted.address))


def test_without_encryption_nobody_gets_in(encrypted, monkeypatch):
    monkeypatch.setattr(dask_module, "ANSWER", 2.0)
    with pytest.raises(Unreachable, match="no Dask scheduler answers at tcp://"):
        open_pool(Place(encrypted.address.replace("tls://", "tcp://")))
