import subprocess
import sys

import pytest
from graphs import CONFIG, chain_graph, engine
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.explorer import Explorer
from ckpt_viz.magics import _words
from ckpt_viz.timeline.recording import record


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


def test_a_database_with_the_graph_that_acts_on_it(shell, tmp_path):
    with SqliteSaver.from_conn_string(tmp_path / "x.db") as saver:
        run = chain_graph(engine("ckpt_viz"), {"a": lambda s: {"xs": ["a"]}}, saver)
        run.invoke({"xs": []}, CONFIG)
    shell.user_ns["mine"] = run.copy(update={"checkpointer": None})
    for source in (f"{tmp_path}/x.db", f"sqlite:///{tmp_path}/x.db"):
        assert not shell.run_line_magic("ckpt", source).timeline.can.run.ok
        found = shell.run_line_magic("ckpt", f"{source} --graph mine")
        assert "write=True" in found.timeline.can.run.why
    found = shell.run_line_magic("ckpt", f"{tmp_path}/x.db --graph mine --write")
    assert found.run({"xs": ["b"]}).values == {"xs": ["a", "b", "a"]}
    found.timeline.saver.close()


def test_subcommands(shell, capsys, tmp_path):
    shell.run_line_magic("ckpt", "threads graph")
    assert "1  3 checkpoints" in capsys.readouterr().out
    shell.run_line_magic("ckpt", "history graph")
    assert "ask: waits" in capsys.readouterr().out
    shell.run_line_magic("ckpt", "diff graph 0 1")
    assert "~ foo" in capsys.readouterr().out
    shell.run_line_magic("ckpt", f"export graph {tmp_path}/x.svg")
    assert (tmp_path / "x.svg").exists()


def test_a_log_an_export_and_an_address_are_sources(shell, graph, tmp_path, capsys):
    shell.run_line_magic("ckpt", f"export graph {tmp_path}/run.json")
    stream = graph.stream({"xs": []}, {"configurable": {"thread_id": "2"}}, stream_mode="debug")
    log = record(stream, tmp_path / "run.jsonl")
    for path in (tmp_path / "run.json", log):
        capsys.readouterr()
        shell.run_line_magic("ckpt", f"history {path}")
        assert "3 checkpoints" in capsys.readouterr().out
    with pytest.raises(UsageError, match="No LangGraph server answers"):
        shell.run_line_magic("ckpt", "http://127.0.0.1:9")
    (tmp_path / "bad.jsonl").write_text("{}\n")
    with pytest.raises(UsageError, match="no checkpoint that could be read"):
        shell.run_line_magic("ckpt", f"{tmp_path}/bad.jsonl")


def test_clear_errors(shell, e):
    shell.user_ns["bare"] = chain_graph(e, {"a": lambda s: {}}).copy(update={"checkpointer": None})
    for line, text in {
        "bare": r"checkpointer=InMemorySaver.*%ckpt bare --record",
        "42 --record": "42 is no compiled graph",
        "history graph --record": "unrecognized",
        "nothing_here": "not a graph in this notebook",
        "graph --at 99": "99",
        "graph --at nope": "nope",
        "": "needs a graph",
        "graph --what": "unrecognized",
        "graph.nope": "not a graph in this notebook",
        "42": "Can't explore an int",
        "history graph --thread typo": "Thread 'typo' is not there. There are: 1.",
        "export graph x.html --thread typo": "Thread 'typo' is not there",
        "diff graph 0 1 --thread typo": "Thread 'typo' is not there",
        "graph --ns nowhere": "has no namespace 'nowhere'",
        "history graph --at 99": "No checkpoint at step 99: they are -1 to",
        "threads graph --at 1": "unrecognized arguments: --at 1",
        "graph --graph 42": "--graph 42 is no compiled graph but of type int",
        "'open": "No closing quotation in",
        "/no/such.db": "no file.*nothing was created",
        "no_such.db": "no file 'no_such.db'; nothing was created",
        "graph.db": "no file 'graph.db'",
        "export graph run.xyz": "nothing was exported.*end it with .html",
        "export graph run.pdf": r"nothing was exported.*\.html, \.svg, \.dot or \.json",
        "export graph /no/such/run.html": "nothing was exported",
        "export graph": r"required: FILE. Usage: %ckpt export SOURCE FILE",
        "threads": r"%ckpt threads: .*required: SOURCE. Usage: %ckpt threads SOURCE",
        "history": r"%ckpt history: .*required: SOURCE. Usage: %ckpt history SOURCE",
        "diff --thread 1": r"required: SOURCE, A, B. Usage: %ckpt diff SOURCE A B",
        "export": r"required: SOURCE, FILE",
        "history  # of what?": "required: SOURCE",
        "# don't": "needs a graph",
    }.items():
        with pytest.raises(UsageError, match=text):
            shell.run_line_magic("ckpt", line)
    del shell.user_ns["bare"]


def test_history_tells_the_branch_that_ends_at_a_place(shell, graph, capsys):
    shell.run_line_magic("ckpt", "history graph --at 0")
    told = capsys.readouterr().out
    assert "2 checkpoints" in told
    assert "head" not in told


def test_a_graph_without_a_saver_is_recorded_in_memory(shell, e):
    bare = chain_graph(e, {"a": lambda s: {"xs": [1]}}).copy(update={"checkpointer": None})
    shell.user_ns["bare"] = bare
    explorer = shell.run_line_magic("ckpt", "bare --record --thread 7")
    assert explorer.run({"xs": [0]}).values["xs"] == [0, 1]
    assert len(explorer.timeline.rows()) == 3
    assert explorer.timeline.thread_id == "7"
    assert explorer._session.scratch_json() == {"thread": "7", "back": False, "recorded": True}
    assert bare.checkpointer is None
    del shell.user_ns["bare"]


def test_a_graph_made_anew_goes_on_in_the_explorers_of_its_name(shell, e, capsys):
    shell.user_ns |= {"e": e, "chain_graph": chain_graph, "CONFIG": {"configurable": {}}}
    explorer = shell.run_line_magic("ckpt", "graph --thread 1")
    rows = [row.id for row in explorer.timeline.rows()]
    explorer.set_breakpoints(before=["a", "join"])
    cell = "graph = chain_graph(e, {'a': lambda s: {'xs': ['new code']}, 'other': lambda s: {}})"
    shell.run_cell_magic("ckpt", "", cell)
    out = capsys.readouterr().out
    assert "the Explorer of graph goes on with the new code (new: other; gone: ask, w, join)" in out
    assert "no graph" not in out
    assert explorer.graph.builder is shell.user_ns["graph"].builder
    assert [row.id for row in explorer.timeline.rows()] == rows
    assert explorer.breakpoints.before == ("a",)
    explorer.set_breakpoints()
    assert explorer._session.changes["waiting"] == [rows[-1]], "`ask` was next there"
    explorer.select(step=0)
    assert explorer.replay().values["xs"] == ["new code"]
    shell.run_cell_magic("ckpt", "", "x = 1\n")
    assert "goes on" not in capsys.readouterr().out


def test_a_comment_ends_the_line(shell):
    for line in ("graph --thread 1   # it's the first", "graph -t '1'# no comment", "graph #"):
        wrong = "no comment" in line
        if wrong:
            with pytest.raises(UsageError):
                shell.run_line_magic("ckpt", line)
        else:
            assert shell.run_line_magic("ckpt", line).timeline.thread_id == "1"


def test_a_quoted_hash_is_no_comment():
    assert _words("graph -t '#5' \"# 6\" a#7 # 8") == ["graph", "-t", "#5", "# 6", "a#7"]


@pytest.mark.parametrize("line", ["-h", "--help", "history --help", "graph -h"])
def test_help(shell, capsys, line):
    assert shell.run_line_magic("ckpt", line) is None
    told = capsys.readouterr().out
    assert told.startswith("Shows the checkpoints")
    assert "%ckpt export SOURCE FILE" in told


def test_the_history_goes_newest_first(shell, capsys):
    shell.run_line_magic("ckpt", "history graph")
    title, *lines = capsys.readouterr().out.splitlines()
    named = "" if type(shell.user_ns["graph"]).__module__.startswith("ckpt_viz") else "LangGraph, "
    assert title == f"{named}thread 1: 3 checkpoints"
    assert [line.split()[1] for line in lines if "┊" not in line] == ["1", "0", "-1"]
    assert lines[0].endswith("ask: waits, not finished")


def test_cell_magic(shell, capsys):
    shell.user_ns["CONFIG"] = {"configurable": {"thread_id": "cell"}}
    shell.run_cell_magic("ckpt", "", "_ = graph.invoke({'xs': []}, CONFIG)\n")
    out = capsys.readouterr().out
    assert "thread cell" in out
    assert "thread 1:" not in out
    shell.run_cell_magic("ckpt", "", "x = 1\n")
    assert "no graph" in capsys.readouterr().out
    with pytest.raises(UsageError, match="'extra words'"):
        shell.run_cell_magic("ckpt", "extra words", "ran = True\n")
    assert "ran" not in shell.user_ns
    shell.run_cell_magic("ckpt", "# why", "ran = True\n")
    assert shell.user_ns.pop("ran")


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
