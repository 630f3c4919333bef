"""The command line: what it prints, its exit codes, and how it behaves in a pipe."""

from __future__ import annotations

import hashlib
import io
import json
import operator
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

from ckpt_viz.checkpoint.serde.jsonplus import JsonPlusSerializer
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.cli import main
from ckpt_viz.graph import START, StateGraph
from ckpt_viz.timeline.recording import record
from ckpt_viz.types import interrupt

COMMAND = [sys.executable, "-m", "ckpt_viz"]
PRINTED = Path(__file__).parents[1] / "timeline" / "files" / "printed_stream.txt"


class State(TypedDict, total=False):
    xs: Annotated[list, operator.add]
    foo: Any


def graph(saver: Any, word: str = "a") -> Any:
    builder = StateGraph(State)
    builder.add_node("a", lambda s: {"xs": [word]})
    builder.add_node("b", lambda s: {"foo": interrupt("sure?") if s["foo"] == "ask" else word})
    builder.add_edge(START, "a").add_edge("a", "b")
    return builder.compile(checkpointer=saver)


def config(thread: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread}}


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "runs.db"
    with SqliteSaver.from_conn_string(str(path)) as saver:
        graph(saver).invoke({"xs": [], "foo": "s3cret"}, config("one"))
        graph(saver).invoke({"xs": [], "foo": "ask"}, config("two"))
        graph(saver, "other").invoke({"xs": [], "foo": "s3cret"}, config("three"))
    return str(path)


@pytest.fixture
def run(capsys):
    def run(*words: str, code: int = 0) -> str:
        assert main(list(words)) == code, capsys.readouterr().err
        told = capsys.readouterr()
        assert code == 2 or not told.err
        return told.err if code == 2 else told.out

    return run


def data(run, *words: str, code: int = 0) -> Any:
    return json.loads(run(*words, "--json", code=code))


# -- each command ----------------------------------------------------------------------------


def test_threads(run, database):
    found = data(run, "threads", database)
    assert [(t["thread"], t["checkpoints"], t["status"]) for t in found] == [
        ("three", 4, "done"),
        ("two", 3, "interrupt"),
        ("one", 4, "done"),
    ]
    assert run("threads", database, "--query", "t", "--limit", "1").split()[-6:][0] == "three"
    assert run("threads", database, "--query", "nobody") == "no threads\n"


def test_history(run, database):
    rows = data(run, "history", database, "-t", "one")
    assert [(r["step"], r["nodes"]) for r in rows] == [
        (2, ["b"]), (1, ["a"]), (0, ["__start__"]), (-1, []),
    ]  # fmt: skip
    assert rows[0]["parent"] == rows[1]["id"]
    assert "sure?" in run("history", database, "-t", "two")
    assert "sure?" not in run("history", database, "-t", "two", "--redact", "foo")
    assert run("history", database, "-t", "one", "--limit", "2").count("\n") == 3


def test_show(run, database):
    shown = data(run, "show", database, "1", "-t", "one")
    assert shown["values"] == {"xs": ["a"], "foo": "s3cret"}
    assert [t["node"] for t in shown["made"]] == ["a"]
    assert [t["node"] for t in shown["following"]] == ["b"]
    for name in ("head", shown["next"] and "2", None):
        words = ["show", database, *([name] if name else []), "-t", "one", "--path", "xs[0]"]
        assert run(*words) == '"a"\n'
    assert data(run, "show", database, shown["id"][-20:], "-t", "one")["step"] == 1
    text = run("show", database, "1", "-t", "one", "--redact", "foo")
    assert "s3cret" not in text
    assert "[redacted]" in text


def test_diff_of_checkpoints(run, database):
    assert run("diff", database, "1", "2", "-t", "one", code=1) == (
        "1 changed\n~ foo: s3cret -> a\n"
    )
    assert data(run, "diff", database, "2", "-t", "one")["parts"] == []


def test_diff_of_two_sources(run, database, tmp_path):
    with SqliteSaver.from_conn_string(str(tmp_path / "today.db")) as saver:
        stream = graph(saver).stream({"xs": [], "foo": "s3cret"}, config("x"), stream_mode="debug")
        record(stream, tmp_path / "today.jsonl")
    today = str(tmp_path / "today.jsonl")
    words = ["diff", database, today, "--thread", "one", "--other-thread", "x"]
    assert "no difference" in run(*words)
    found = data(run, *words[:4], "three", *words[5:], code=1)
    assert (found["first"], found["kind"]) == (2, "values")
    assert [p["differs"] for p in found["pairs"]] == [[], [], ["xs"], ["xs", "foo"]]
    same = [*words[:4], "three", *words[5:], "--ignore", "xs", "--ignore", "foo"]
    assert data(run, *same)["first"] is None


def test_diff_of_two_threads(run, database):
    words = ["diff", database, database, "-t", "one", "--other-thread", "two"]
    text = run(*words, code=1)
    assert "step 0: the start left other values in foo" in text
    assert "> " in text


def test_blame_and_search(run, database):
    assert "set by a at step 1" in run("blame", database, "xs[0]", "-t", "one")
    assert data(run, "blame", database, "xs[0]", "--at", "1", "-t", "one")["by"] == "a"
    assert [r["step"] for r in data(run, "search", database, "node:a", "-t", "one")] == [1]
    assert run("search", database, "node:nobody", "-t", "one", code=1) == "nothing found\n"
    hidden = ["search", database, 'foo~"s3c"', "-t", "one", "--redact", "foo"]
    assert data(run, *hidden, code=1) == []


def test_export_and_open_again(run, database, tmp_path):
    target = str(tmp_path / "one.json")
    run("export", database, target, "-t", "one")
    assert "exists" in run("export", database, target, "-t", "one", code=2)
    run("export", database, target, "-t", "one", "--force", "--redact", "foo")
    assert "s3cret" not in Path(target).read_text()
    assert "only differs in" not in run("diff", target, "0", "1", code=1)
    for end in ("svg", "html"):
        run("export", database, str(tmp_path / f"one.{end}"), "-t", "one")
    assert "end it with" in run("export", database, str(tmp_path / "one.pdf"), "-t", "one", code=2)


def test_report(run, database):
    found = data(run, "report", database)
    assert {t["thread_id"] for t in found["threads"]} == {"one", "two", "three"}
    assert "bytes in 3 threads" in run("report", database)
    assert data(run, "report", str(PRINTED))[0]["checkpoints"] == 5


def test_prune_and_copy_write_when_they_are_told_to(run, database):
    before = Path(database).read_bytes()
    count = lambda thread: len(data(run, "history", database, "-t", thread))  # noqa: E731
    assert "add --write" in run("prune", database, "-t", "one", code=2)
    dry = data(run, "prune", database, "-t", "one", "--dry-run")
    assert (dry["dry_run"], count("one")) == (True, 4)
    assert dry["removed"]["checkpoints"] != []
    assert "would copy 4" in run("copy", database, "new", "-t", "one", "--dry-run")
    assert Path(database).read_bytes() == before
    run("copy", database, "new", "-t", "one", "--write")
    assert count("new") == 4
    assert "there already" in run("copy", database, "new", "-t", "one", "--write", code=2)
    assert "went" in run("prune", database, "-t", "one", "--write")
    assert (count("one"), count("new")) == (1, 4)
    assert "no way" in run("prune", str(PRINTED), "--dry-run", code=2)


def test_demo(run, tmp_path):
    told = data(run, "demo", str(tmp_path / "d.html"))
    assert Path(told["path"]).is_file()
    assert told["checkpoints"] == 8


# -- refusals --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["history", "{db}"], "Which thread"),
        (["history", "{db}", "-t", "nobody"], "There are: "),
        (["history", "{db}", "-t", "one", "--ns", "sub"], "namespace"),
        (["show", "{db}", "99", "-t", "one"], "No checkpoint at step 99: they are -1 to 2"),
        (["show", "{db}", "1f", "-t", "one"], "4 checkpoints"),
        (["show", "{db}", "zzz", "-t", "one"], "no checkpoint"),
        (["show", "{db}", "-t", "one", "--path", "xs["], "xs["),
        (["blame", "{db}", "nothing", "-t", "one"], "nothing"),
        (["search", "{db}", "nofield:x", "-t", "one"], "There is no field"),
        (["threads", "{db}.missing"], "missing"),
        (["history", "{db}", "-t", "one", "--at", "99"], "No checkpoint at step 99"),
        (["show", "{db}", "-t", "one", "--path", "nope"], "no value at path 'nope': the state has"),
        (["export", "{db}", "{dir}/none/x.html", "-t", "one"], "there is no folder"),
        (["prune", "{db}", "-t", "typo", "--dry-run"], "Thread 'typo' is not there. There are: "),
        (["threads", "/dev/null"], ""),
        (["history", "{dir}"], ""),
    ],
)
def test_what_cannot_be_done_is_said_and_is_2(run, database, words, says):
    told = run(*(w.format(db=database, dir=Path(database).parent) for w in words), code=2)
    assert told.startswith("ckpt-viz: ")
    assert says in told
    assert "Traceback" not in told


def test_usage_is_2(capsys):
    for words in (
        [],
        ["what"],
        ["show"],
        ["threads", "x", "--limit", "many"],
        ["history", "x", "--limit", "-3"],
        ["threads", "x", "--offset", "-1"],
    ):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 2
    capsys.readouterr()


# -- pipes and terminals ---------------------------------------------------------------------


def test_a_log_on_standard_input(run, monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(PRINTED.read_bytes()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert [r["step"] for r in data(run, "history", "-")] == [3, 2, 1, 0, -1]


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    log = tmp_path / "big.jsonl"
    payload = {
        "config": {"configurable": {"checkpoint_id": "1"}},
        "values": {"x": ["y" * 99] * 9999},
    }
    log.write_text(json.dumps({"type": "checkpoint", "step": 0, "payload": payload}) + "\n")
    process = subprocess.Popen(
        [*COMMAND, "show", str(log)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(20) == -signal.SIGPIPE


def test_ascii_and_no_utf8_locale():
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*COMMAND, "history", str(PRINTED)], env=env, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


def test_on_a_terminal_tables_are_drawn_and_nothing_of_a_history_is_markup(tmp_path):
    where = {"checkpoint_id": "1", "thread_id": "[red]t\x1b[31m\u202e"}
    payload = {"config": {"configurable": where}, "values": {"x": "\x1b]0;title\x07\x9b"}}
    log = tmp_path / "x.jsonl"
    log.write_text(json.dumps({"type": "checkpoint", "step": 0, "payload": payload}) + "\n")
    for words in (["threads"], ["show", "--json"]):
        main_end, terminal = pty.openpty()
        env = {**os.environ, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "150"}
        command = [*COMMAND, words[0], str(log), *words[1:]]
        with subprocess.Popen(command, stdout=terminal, stderr=terminal, env=env) as process:
            os.close(terminal)
            out = b""
            while part := _read(main_end):
                out += part
        os.close(main_end)
        text = out.decode()
        assert process.returncode == 0
        assert "[red]t" in text
        assert not {"\x1b[31m", "\x07", "\u202e", "\x9b", "\x1b]"} & set(_pieces(text))


def _read(handle: int) -> bytes:
    try:
        return os.read(handle, 65536)
    except OSError:  # Linux: the other end is closed
        return b""


def _pieces(text: str) -> list[str]:
    return [p for p in ("\x1b[31m", "\x07", "\u202e", "\x9b", "\x1b]") if p in text]


# -- safety ----------------------------------------------------------------------------------


def test_nothing_that_a_database_names_is_imported(tmp_path):
    import ormsgpack

    (tmp_path / "trap_module.py").write_text("open('marker', 'w').close()\n")
    path = tmp_path / "x.db"
    raw = ormsgpack.packb(ormsgpack.Ext(5, ormsgpack.packb(("trap_module", "Trap", {"a": 1}))))

    class Crafted(JsonPlusSerializer):
        def dumps_typed(self, obj: Any) -> Any:
            return ("msgpack", raw) if obj == "plain" else super().dumps_typed(obj)

    with SqliteSaver.from_conn_string(str(path)) as saver:
        saver.serde = Crafted()
        graph(saver).invoke({"xs": [], "foo": "plain"}, config("one"))
    assert b"trap_module" in path.read_bytes()
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[2]}"}
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    code = "import sys; from ckpt_viz.cli import main\n"
    code += "for words in (['history'], ['show', '0'], ['diff', '0', '1'], ['blame', 'foo']):\n"
    code += "    assert main([words[0], sys.argv[1], *words[1:]]) in (0, 1)"
    command = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert b"trap_module" in done.stdout
    assert not (tmp_path / "marker").exists()
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before


def test_the_command_loads_no_notebook():
    code = "import sys, ckpt_viz.cli; print(sorted({'IPython', 'anywidget', 'langgraph', 'rich', "
    code += "'langgraph_sdk', 'psycopg', 'redis'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_commands_reach_what_is_older_than_the_newest_page(run, tmp_path, monkeypatch):
    monkeypatch.setattr("ckpt_viz.timeline.pages.PAGE", 5)
    log = tmp_path / "long.jsonl"
    with log.open("w") as file:
        for n in range(40):
            where = {"checkpoint_id": f"{n:03}", "thread_id": "t"}
            payload = {"config": {"configurable": where}, "values": {"n": n}}
            event = {"type": "checkpoint", "step": n, "payload": payload}
            file.write(json.dumps(event) + "\n")
    assert len(data(run, "history", str(log))) == 40
    assert [r["step"] for r in data(run, "history", str(log), "--limit", "3")] == [39, 38, 37]
    assert data(run, "show", str(log), "1")["values"] == {"n": 1}
    assert [r["step"] for r in data(run, "search", str(log), "step:2..3")] == [3, 2]
    assert data(run, "diff", str(log), str(log))["pairs"][0]["a"]["step"] == 0
    run("export", str(log), str(tmp_path / "long.json"))
    assert len(data(run, "history", str(tmp_path / "long.json"))) == 40


def test_what_cannot_prune_or_copy_is_named_in_words(run, database, tmp_path):
    file = tmp_path / "one.json"
    run("export", database, str(file), "-t", "one")
    for words in (["prune"], ["copy", "new"]):
        for how in ("--write", "--dry-run"):
            told = run(words[0], str(file), *words[1:], how, code=2)
            assert f"An exported history has no way to {words[0]} a thread" in told
