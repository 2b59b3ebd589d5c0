"""One Dask cluster for all tests of this folder."""

import pytest
from local_cluster import Cluster


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """Two workers, shared by the tests that leave them as they are: what dies is replaced."""
    pytest.importorskip("distributed")
    cluster = Cluster(tmp_path_factory.mktemp("cluster"), workers=2)
    yield cluster
    cluster.close()
