import gc
import subprocess
import sys

import pytest

from largeea.cli.startup import emptied, hidden

PROGRAM = """
import gc, sys
from largeea.cli import main
try:
    main()
finally:
    print([name for name in NAMES if name in sys.modules], gc.isenabled())
    import numpy.f2py
    import pandas
    import pyarrow
    assert numpy.f2py.get_include()
    assert pyarrow.table({"a": [1]}).to_pandas()["a"].tolist() == [1]
"""
UNUSED = ("pandas", "torch", "babel", "pyarrow.parquet", "sqlite3", "yaml", "numpy.f2py")


def test_a_plain_run_imports_nothing_that_it_does_not_use(tmp_path):
    names = tmp_path / "names.nt"
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    names.write_text(f'<http://a/1> {label} "Ann Lee" .\n<http://a/2> {label} "Bob Ray" .\n')
    program = PROGRAM.replace("NAMES", repr(UNUSED))
    pytest.importorskip("pandas")
    command = [sys.executable, "-c", program, "align", str(names), str(names), "-o", str(tmp_path / "run")]
    done = subprocess.run([*command, "--quiet"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[] True"


def test_a_hidden_module_can_be_imported_afterwards():
    sys.modules.pop("this", None)
    with hidden("antigravity"), pytest.raises(ModuleNotFoundError, match="left out"):
        import antigravity  # noqa: F401
    assert gc.isenabled()
    with hidden("json"):
        import json  # imported before

        assert json.loads("1") == 1


def test_an_emptied_module_can_be_imported_afterwards():
    sys.modules.pop("wsgiref.headers", None)
    with emptied("wsgiref.headers"):
        import wsgiref.headers as empty

        assert not hasattr(empty, "Headers")
    import wsgiref.headers as whole

    assert whole.Headers
