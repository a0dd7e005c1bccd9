"""What a REPL and a notebook show: text that reads, and HTML in which nothing of a query is markup."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import situ
from situ.language.text.highlight import STYLES, highlighted

EVENTS = pa.table({"ts": [1, 2, 3], "x": [0, 5, 5]})
QUERY = situ.query("FROM t ORDER BY ts DEFINE A AS x > 1 AT LEAST 5")


def spans(html: str) -> list[tuple[str, str]]:
    """The coloured pieces, with the name of their style."""
    found = re.findall(r'<span style="([^"]*)">(.*?)</span>', html, re.DOTALL)
    names = {style: name for name, style in STYLES.items()}
    return [(names[style], unescape(text)) for style, text in found]


class Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_keywords_strings_numbers_and_comments_are_told_apart() -> None:
    html = highlighted("FROM t DEFINE A AS s = 'a<b' AT LEAST 5 s -- <why>\nRETURN A.ts AS since")
    assert spans(html) == [
        *[("keyword", "FROM"), ("keyword", "DEFINE"), ("keyword", "AS"), ("string", "'a<b'")],
        *[("keyword", "AT"), ("keyword", "LEAST"), ("number", "5"), ("comment", "-- <why>")],
        *[("keyword", "RETURN"), ("keyword", "AS")],
    ]


def test_names_that_look_like_keywords_are_names() -> None:
    html = highlighted("FROM t ORDER BY id DEFINE A AS least(`from`, at) > 1 PATTERN A overlapped-by A.end")
    keywords = [text for style, text in spans(html) if style == "keyword"]
    assert keywords == ["FROM", "ORDER", "BY", "DEFINE", "AS", "PATTERN"]


@given(st.text(alphabet="<>&\"'` -/*;.\nAabWITHIN015$_é", max_size=60))
def test_any_text_comes_through_whole_and_escaped(text: str) -> None:
    try:
        html = highlighted(text)
    except situ.SituError:
        return  # a string or comment without an end, which no query has
    page = Texts()
    page.feed(html)
    page.close()
    assert page.text == text
    assert page.tags <= {"pre", "span"}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("background", ["ffffff", "111111"])
def test_colours_are_readable_on_light_and_on_dark(style: str, background: str) -> None:
    colour = STYLES[style].removeprefix("color:#")[:6]
    dark, light = sorted((luminance(colour), luminance(background)))
    assert (light + 0.05) / (dark + 0.05) > 3.5


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_query_shows_its_text() -> None:
    page = Texts()
    page.feed(QUERY._repr_html_())
    assert page.text == str(QUERY)


@pytest.mark.parametrize("condition", ["x > 1", 's = "a"', r"s RLIKE '\\d'", 's = \'"""\''])
def test_a_query_prints_as_the_call_that_makes_it(condition: str) -> None:
    query = situ.query(f"FROM t ORDER BY ts DEFINE A AS {condition}")
    assert eval(repr(query), {"situ": situ}) == query


def test_why_and_explanations_print_as_text_and_show_as_tables() -> None:
    for shown in (situ.why(EVENTS, QUERY), situ.explain(EVENTS, QUERY), QUERY.explain()):
        assert repr(shown) == str(shown)
        assert "\n" in repr(shown)
        page = Texts()
        page.feed(shown._repr_html_())
        assert "table" in page.tags
