import subprocess
import sys

import pytest
from graphs import chain_graph
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from ckpt_viz.explorer import Explorer


@pytest.fixture
def shell(graph):
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "ckpt_viz")
    shell.user_ns["graph"] = graph
    yield shell
    shell.user_ns.pop("graph", None)


def test_ckpt_shows_an_explorer(shell):
    found = shell.run_line_magic("ckpt", "graph --thread 1 --at 0")
    assert isinstance(found, Explorer)
    assert found.selected.snapshot.metadata["step"] == 0
    assert isinstance(shell.run_line_magic("ckpt", "graph"), Explorer)


def test_subcommands(shell, capsys, tmp_path):
    shell.run_line_magic("ckpt", "threads graph")
    assert "1  3 checkpoints" in capsys.readouterr().out
    shell.run_line_magic("ckpt", "history graph")
    assert "ask: waits" in capsys.readouterr().out
    shell.run_line_magic("ckpt", "diff graph 0 1")
    assert "~ foo" in capsys.readouterr().out
    shell.run_line_magic("ckpt", f"export graph {tmp_path}/x.svg")
    assert (tmp_path / "x.svg").exists()


def test_clear_errors(shell, e):
    shell.user_ns["bare"] = chain_graph(e, {"a": lambda s: {}}).copy(update={"checkpointer": None})
    for line, text in {
        "bare": "checkpointer=InMemorySaver",
        "nothing_here": "not a graph in this notebook",
        "graph --at 99": "99",
        "graph --at nope": "nope",
        "": "needs a graph",
        "graph --what": "unrecognized",
        "graph.nope": "not a graph in this notebook",
        "42": "Can't explore a int",
        "/no/such.db": "no file.*nothing was created",
        "export graph run.xyz": "nothing was exported.*end it with .html",
        "export graph /no/such/run.html": "nothing was exported",
        "export graph": "required: file",
    }.items():
        with pytest.raises(UsageError, match=text):
            shell.run_line_magic("ckpt", line)
    del shell.user_ns["bare"]


def test_cell_magic(shell, capsys):
    shell.user_ns["CONFIG"] = {"configurable": {"thread_id": "cell"}}
    shell.run_cell_magic("ckpt", "", "_ = graph.invoke({'xs': []}, CONFIG)\n")
    out = capsys.readouterr().out
    assert "thread cell" in out
    assert "thread 1:" not in out
    shell.run_cell_magic("ckpt", "", "x = 1\n")
    assert "no graph" in capsys.readouterr().out


def test_import_is_cheap():
    code = (
        "import ckpt_viz, sys; "
        "bad = {'ipywidgets', 'anywidget', 'langgraph', 'IPython'} & set(sys.modules); "
        "assert not bad, bad; assert ckpt_viz.__version__; assert 'explore' in dir(ckpt_viz)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_ours_needs_no_langgraph():
    code = (
        "import sys; sys.modules['langgraph'] = None\n"
        "from graphs import *\n"
        "from ckpt_viz import explore\n"
        "g = plan_graph(engine('ckpt_viz')); g.invoke({'xs': []}, CONFIG)\n"
        "assert explore(g).timeline.rows()"
    )
    import graphs

    folder = graphs.__file__.rsplit("/", 1)[0]
    subprocess.run([sys.executable, "-c", code], check=True, cwd=folder)
