"""What people who debug graph state reported, asked of the Explorer: a test a report."""

import pytest
from graphs import CONFIG, State, chain_graph, engine, plan_graph
from pages import Page

from ckpt_viz import explore
from ckpt_viz.checkpoint.sqlite import SqliteSaver


def asking(e, node):
    graph = chain_graph(e, {"ask": node})
    graph.invoke({"xs": []}, CONFIG)
    page = Page(explore(graph, follow=False))
    head = page.get("hello")["rows"]["head"]
    return page, head, page.get("checkpoint", checkpoint=head)["writes"]["next"][0]


def test_null_is_an_answer_and_stays_null():
    e = engine("ckpt_viz")  # on LangGraph None is no answer
    page, head, task = asking(e, lambda s: {"foo": repr(e.interrupt("well?"))})
    answers = {task["interrupts"][0]["id"]: None}
    page.get("resume", checkpoint=head, answers=answers, act="1")
    assert page.ended()["state"] == "done"
    assert page.explorer.head.values["foo"] == "None"


def test_no_input_goes_on_and_is_no_new_beginning(e, graph):
    page = Page(explore(graph, follow=False))
    head = page.get("hello")["rows"]["head"]
    page.get("run", input=None, act="1")
    page.ended()
    rows = page.explorer.timeline.rows()
    assert [row.source for row in rows].count("input") == 1
    assert head in [row.id for row in rows]


def test_code_before_questions_is_counted(e):
    def three(state):
        return {"xs": [e.interrupt(f"q{k}") for k in range(3)]}

    page, _, _ = asking(e, three)
    explorer = page.explorer
    for answer in "xyz":
        explorer.select(explorer.head.id)
        explorer.resume(answer)
    (task,) = explorer.timeline.writes(explorer.head.id).made
    assert task.why.endswith("its code before the first question ran 4 times")
    shown = page.get("checkpoint", checkpoint=explorer.head.id)["writes"]["made"][0]["why"]
    assert "ran 4 times" in shown


def test_an_edit_from_elsewhere_is_shown(e, graph):
    explorer = explore(graph, follow=False)
    page = Page(explorer)
    page.get("hello")
    made = graph.update_state(CONFIG, {"foo": "from elsewhere"}, as_node="a")
    id_ = made["configurable"]["checkpoint_id"]
    explorer.refresh()
    assert explorer.head.id == id_
    news = page.wait(lambda m: m.get("event") == "rows")
    assert [row[0] for row in news["rows"]][-1] == id_
    assert news["head"] == id_


def test_nodes_without_a_write_are_named(e):
    graph = chain_graph(e, {"a": lambda s: None, "b": lambda s: {"foo": "b"}})
    graph.invoke({"xs": []}, CONFIG)
    assert [row.nodes for row in explore(graph, follow=False).timeline.rows()][-2:] == [
        ("a",),
        ("b",),
    ]


def test_writes_are_told_without_metadata(e, graph):
    timeline = explore(graph, follow=False).timeline
    for row in timeline.rows():
        assert "writes" not in (timeline.snapshot(row.id).metadata or {})
    made = timeline.writes(timeline.rows()[-1].id).made
    assert [(task.name, task.result) for task in made] == [("a", {"xs": ["a"], "foo": "x"})]


HOSTILE = (
    "metadata.x'); DROP TABLE ckpt_checkpoints;--=1",
    "x';DROP TABLE ckpt_writes--",
    "' OR '1'='1",
)


@pytest.mark.parametrize("query", HOSTILE)
def test_a_search_reaches_no_sql(tmp_path, query):
    saver = SqliteSaver.from_conn_string(tmp_path / "run.db")
    graph = plan_graph(engine("ckpt_viz"), saver)
    graph.invoke({"foo": "", "xs": []}, CONFIG)
    page = Page(explore(graph, follow=False))
    before = len(page.explorer.timeline.rows())
    reply = page.ask("search", query=query)
    assert not reply["ok"] or reply["result"]["ids"] == []
    again = explore(tmp_path / "run.db", follow=False).timeline
    assert len(again.rows()) == before


def test_a_fork_that_leads_nowhere_says_so_first(e):
    builder = e.StateGraph(State)
    builder.add_node("a", lambda s: e.Command(goto="b", update={"xs": ["a"]}))
    builder.add_node("b", lambda s: {"xs": ["b"]})
    graph = builder.add_edge(e.START, "a").compile(checkpointer=e.Saver())
    graph.invoke({"xs": []}, CONFIG)
    page = Page(explore(graph, follow=False))
    after_a = page.explorer.select(step=1).id
    found = page.get("preview", checkpoint=after_a, values={"foo": "z"})
    assert (found["next"], found["dead_end"]) == ([], True)
    before_a = page.explorer.select(step=0).id
    found = page.get("preview", checkpoint=before_a, values={"foo": "z"})
    assert (found["next"], found["dead_end"]) == (["a"], False)
