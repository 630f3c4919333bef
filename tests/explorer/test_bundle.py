"""What every Explorer sends to its page stays small: the bundle goes out anew for each of them."""

import gzip

from ckpt_viz.explorer.bundle import script_text, style_text


def test_the_page_is_under_60_kb_gzipped():
    sent = [gzip.compress(text.encode(), 9) for text in (script_text(), style_text())]
    assert all(len(part) > 1_000 for part in sent), "the front end is built"
    assert sum(map(len, sent)) < 60 * 1024
