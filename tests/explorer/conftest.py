import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "timeline"))
from graphs import CONFIG, ENGINES, engine, plan_graph


@pytest.fixture(params=ENGINES)
def e(request):
    return engine(request.param)


@pytest.fixture
def graph(e):
    graph = plan_graph(e)
    graph.invoke({"foo": "", "xs": []}, CONFIG)
    return graph
