"""What notebooks show: results as tables, and how far a long statement is."""

import html as _html
import importlib
import sys

#: Rows of a result that are shown.
_ROWS = 20
#: Characters of a value that are shown.
_CHARACTERS = 200


def html(cursor):
    """The first rows of a result, with values as the shell shows them: Python need not have objects for them."""
    columns = cursor.description
    numbers = [_is_number(column[1]) for column in columns]
    head = "".join(f'<th title="{_html.escape(column[1])}">{_html.escape(column[0])}</th>' for column in columns)
    body = "".join(_row(row, numbers) for row in cursor._head(_ROWS))
    rest = cursor.rowcount - _ROWS
    all_rows = "1 row" if cursor.rowcount == 1 else f"{cursor.rowcount} rows"
    foot = f"<p>… {rest} more of {all_rows}</p>" if rest > 0 else f"<p>{all_rows}</p>"
    return f"<div><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{foot}</div>"


def _is_number(kind):
    return kind.partition("(")[0] in ("smallint", "integer", "bigint", "decimal", "real", "double precision")


def _row(row, numbers):
    return "<tr>" + "".join(_cell(value, right) for value, right in zip(row, numbers)) + "</tr>"


def _cell(value, right):
    if value is None:
        return '<td style="color: gray"><i>NULL</i></td>'
    if len(value) > _CHARACTERS:
        value = value[: _CHARACTERS - 1] + "…"
    style = ' style="text-align: right"' if right else ""
    return f"<td{style}>{_html.escape(value)}</td>"


class _Progress:
    """A line in a notebook that is written anew."""

    def __init__(self, display):
        self._handle = display(_Text(""), display_id=True)

    def show(self, phase, done, total, left):
        """Says what is being done, how much of it is done, and how long the rest takes, where that is known."""
        share = f": {100 * min(done, total) // total} %" if total else ""
        rest = f", {left}" if left else ""
        self._handle.update(_Text((phase or "running") + share + rest))

    def close(self):
        """Takes the line away."""
        self._handle.update(_Text(""))


class _Nowhere:
    """Outside of notebooks nothing is shown."""

    def show(self, phase, done, total, left):
        pass

    def close(self):
        pass


class _Text:
    """A text that notebooks show as it is."""

    def __init__(self, text):
        self._text = text

    def __repr__(self):
        return self._text

    def _repr_html_(self):
        return f"<small>{_html.escape(self._text)}</small>" if self._text else ""


def progress():
    """Where a notebook shows how far a statement is."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None or not hasattr(shell, "kernel"):
        return _Nowhere()
    return _Progress(importlib.import_module("IPython.display").display)
