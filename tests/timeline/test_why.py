from graphs import CONFIG, chain_graph

from ckpt_viz.timeline import open_timeline


def test_what_follows_an_old_checkpoint_s_edit_is_explained_by_the_edit(e):
    graph = chain_graph(e, {name: lambda s: {} for name in "abc"})
    graph.invoke({"xs": []}, CONFIG)
    timeline = open_timeline(graph, "1")
    old = next(row for row in timeline.rows() if row.nodes == ("a",))
    fork = timeline.update(old.id, {"xs": ["mine"]}, as_node="a")
    why = [task.why for task in timeline.writes(fork).next]
    assert why == ["ran because your edit stands for a, whose edge leads here"]
