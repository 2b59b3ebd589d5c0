"""The core is tested by itself: no method of an extension looks first, as where none is installed."""

import pytest

from audit import plugins


@pytest.fixture(autouse=True, scope="module")
def core_alone(request):
    """Certificates, and workers, are tested with what extensions bring as well."""
    with pytest.MonkeyPatch.context() as patch:
        if request.path.parent.name not in ("certificate", "workers"):
            patch.setattr(plugins, "list_first", lambda: ())
        yield
