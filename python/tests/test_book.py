"""The book in docs/book: every example of every page, word for word, in a fresh directory; its summary and its links.

`FRAZIL_BOOK_RECORD=1` writes into the pages what their examples show now; read the difference before you keep it."""

import os
import re

import book
import pytest

# Blocks that are not run, each with its reason in the page: a new one is counted here.
NOT_RUN = 7
RECORD = os.environ.get("FRAZIL_BOOK_RECORD") == "1"


@pytest.mark.parametrize("name", list(book.sittings()))
def test_examples_show_what_the_pages_say(name, tmp_path):
    differences = []
    with book.Sitting(tmp_path) as reader:
        for page in book.sittings()[name]:
            reader.turn_page()
            recorded = []
            for block, expected in book.examples(page)[0]:
                shown = reader.run(block)
                if not book.agrees(None if expected is None else expected.text, shown):
                    differences.append(f"{block} shows\n{shown}and not\n{expected.text if expected else 'the tag of a command'}")
                    recorded.append((block, expected, shown))
            if RECORD:
                record(page, recorded)
    assert not differences, f"{len(differences)} examples differ\n" + "\n".join(differences)


def record(page, recorded):
    """Writes what blocks showed into their page, from its end on, so that places stay right."""
    text = page.read_text()
    for block, expected, shown in reversed(recorded):
        if expected is None:
            at = block.end + len("```\n")
            text = f"{text[:at]}\n```text\n{shown}```\n{text[at:]}"
        else:
            text = text[: expected.start] + shown + text[expected.end :]
    page.write_text(text)


def test_every_block_is_run_or_says_why_not():
    passed_over = [block for page in book.pages() for block in book.examples(page)[1]]
    assert all(block.reason for block in passed_over)
    assert len(passed_over) == NOT_RUN, [f"{block}: {block.reason}" for block in passed_over]


def test_blocks_of_rust_are_doctests():
    crate = (book.BOOK.parents[1] / "crates" / "frazil" / "src" / "book.rs").read_text()
    pages = {page for page in book.pages() if any(block.language == "rust" for block in book.blocks(page))}
    assert {page.name for page in pages} == set(re.findall(r"book/src/(\S+\.md)", crate))


def test_the_summary_names_every_page():
    files = {path for path in book.PAGES.rglob("*.md") if path.name != "SUMMARY.md"}
    assert files == set(book.pages())


@pytest.mark.parametrize("page", book.pages(), ids=lambda page: str(page.relative_to(book.PAGES)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", book.prose(page)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.is_relative_to(book.PAGES) and file.exists(), target
        assert not anchor or anchor in book.anchors(file), target
