"""Statements as trees of text, so that they can be written for each dialect, counted and minimized."""

from .tables import SQL_TYPES

# What a tree is written for. Frazil's dialect is PostgreSQL's.
FRAZIL, POSTGRES, DUCKDB = "frazil", "postgres", "duckdb"


class Node:
    """A piece of a statement.

    `sort` says where the piece may stand: pieces of one sort are exchangeable. `parts` are texts, nodes, and dicts from dialect
    to text (the key None for all others). `features` are what coverage counts. `rows` of a list may shrink to one."""

    __slots__ = ("sort", "parts", "features", "optional", "type", "loose")

    def __init__(self, sort, parts, features=(), optional=False, type=None, loose=False):
        self.sort, self.parts, self.features, self.optional = sort, parts, features, optional
        self.type = type      # of an expression
        self.loose = loose    # an average or quotient: equal but for the last digits

    def text(self, dialect=FRAZIL):
        out = []
        self._write(dialect, out)
        return "".join(out)

    def _write(self, dialect, out):
        for part in self.parts:
            if isinstance(part, Node):
                part._write(dialect, out)
            elif isinstance(part, dict):
                out.append(part.get(dialect, part.get(None, "")))
            else:
                out.append(part)

    def children(self):
        return [part for part in self.parts if isinstance(part, Node)]

    def walk(self):
        """This node and all below it, from the top."""
        yield self
        for child in self.children():
            yield from child.walk()

    def with_part(self, at, part):
        """A copy with another part."""
        parts = list(self.parts)
        parts[at] = part
        return Node(self.sort, parts, self.features, self.optional, self.type, self.loose)

    def is_loose(self):
        return any(node.loose for node in self.walk())


def form(sort, template, *children, features=(), optional=False, type=None, loose=False):
    """A node from a template with {} for each child; a template may be a dict from dialect to template."""
    if isinstance(template, dict):
        pieces = {dialect: text.split("{}") for dialect, text in template.items()}
        parts = []
        for at in range(len(children) + 1):
            parts.append({dialect: texts[at] for dialect, texts in pieces.items()})
            if at < len(children):
                parts.append(children[at])
        return Node(sort, parts, features, optional, type, loose)
    texts = template.split("{}")
    parts = [texts[0]]
    for text, child in zip(texts[1:], children):
        parts += [child, text]
    return Node(sort, parts, features, optional, type, loose)


def listed(sort, items, separator=", "):
    """A list whose items can be dropped until one is left."""
    parts = []
    for at, item in enumerate(items):
        parts.append(Node((sort, "item"), [separator if at else "", item]))
    return Node(("list", sort), parts)


def smaller(root):
    """Trees that are smaller than this one by one step, the smallest first."""
    found = []

    def visit(node, rebuild):
        if node.optional and node.parts:
            found.append(rebuild(Node(node.sort, [], optional=True)))
        for below in node.walk():
            if below is not node and below.sort == node.sort and node.sort[0] in ("expr", "query", "source"):
                found.append(rebuild(below))
        if node.sort[0] == "expr" and node.children():
            found.append(rebuild(Node(node.sort, [f"cast(null as {SQL_TYPES.get(node.sort[1], 'interval')})"], type=node.type)))
        if node.sort[0] == "list" and len(node.parts) > 1:
            for at in range(len(node.parts)):
                kept = [part for i, part in enumerate(node.parts) if i != at]
                first = kept[0]
                kept[0] = Node(first.sort, ["", *first.parts[1:]])
                found.append(rebuild(Node(node.sort, kept)))
        for at, child in enumerate(node.parts):
            if isinstance(child, Node):
                visit(child, lambda new, at=at, node=node, rebuild=rebuild: rebuild(node.with_part(at, new)))

    visit(root, lambda new: new)
    return sorted(found, key=lambda tree: len(tree.text()))


def minimize(root, fails, most=400):
    """The smallest tree found that still fails. `fails(tree)` judges; at most `most` trees are tried."""
    tried, seen = 0, {root.text()}
    progress = True
    while progress and tried < most:
        progress = False
        for tree in smaller(root):
            text = tree.text()
            if text in seen or len(text) >= len(root.text()):
                continue
            seen.add(text)
            tried += 1
            if fails(tree):
                root, progress = tree, True
                break
            if tried >= most:
                break
    return root
