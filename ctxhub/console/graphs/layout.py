"""Lays out the boxes and lines of a graph: on both sides of the centre, or below it on small screens."""

from collections.abc import Sequence

from ctxhub.console.graphs.trees import Branch, Graph, Node, Tie
from ctxhub.console.text_lines import wrap_text
from ctxhub.core.kit.frozen import frozen

# In pixels of the drawing.
TITLE_SIZE, LINE_HEIGHT = 13, 16
BOX_HEIGHT, CENTRE_HEIGHT = 56, 76
BETWEEN_ROWS, MARGIN = 12, 10
BROAD = 800
ARROW, SHAFT = 9, 7
TALL_WIDTH, TALL_ROW, INDENT, ELBOW, ABOVE = 340, 82, 36, 8, 6
STUB = 26
# Of a line without a strength.
PLAIN_WIDTH = 1.5


@frozen
class Columns:
    """The columns of a wide drawing. `lines`: of the titles; `bend`: where lines leave their spine."""

    box_width: float
    gap: float
    bend: float
    lines: int
    has_labels: bool

    @property
    def box_height(self) -> float:
        return BOX_HEIGHT + (self.lines - 2) * LINE_HEIGHT

    @property
    def row(self) -> float:
        return self.box_height + BETWEEN_ROWS


# With room for labels on the lines, for longer ones, or for many columns.
LABELLED = Columns(box_width=168, gap=112, bend=38, lines=2, has_labels=True)
SPOKEN = Columns(box_width=168, gap=136, bend=34, lines=2, has_labels=True)
CLOSE = Columns(box_width=128, gap=36, bend=22, lines=3, has_labels=False)


@frozen
class Box:
    """An object: position, size, and its title in lines; `more` counts its neighbours that are not drawn."""

    node: Node
    x: float
    y: float
    width: float
    height: float
    lines: Sequence[str]
    role: str = ""
    more: int = 0

    @property
    def first_line(self) -> float:
        """The y of the first line of the title, which centres title and kind in the box."""
        return (self.height - LINE_HEIGHT * (len(self.lines) + 1)) / 2 + TITLE_SIZE

    @property
    def last_line(self) -> float:
        return self.first_line + LINE_HEIGHT * len(self.lines)

    @property
    def middle(self) -> float:
        return self.y + self.height / 2

    @property
    def right(self) -> float:
        return self.x + self.width


@frozen
class Line:
    """A tie: path, arrows, and the position of its label, above and below the line."""

    tie: Tie
    path: str
    arrows: Sequence[str]
    x: float = 0
    y: float = 0
    role: str = ""

    @property
    def width(self) -> float:
        """From one pixel for strength 0 to five for 100."""
        strength = self.tie.strongest.strength
        return PLAIN_WIDTH if strength is None else 1 + strength / 25

    @property
    def strength(self) -> str:
        """The number on it, and how many other links it stands for."""
        strength, others = self.tie.strongest.strength, len(self.tie.links) - 1
        words = [] if strength is None else [str(strength)]
        return " ".join([*words, f"+{others}"] if others else words)


@frozen
class Drawing:
    """`spines`: the vertical lines from which the lines of a column branch off. `has_labels`: of lines."""

    name: str
    left: float
    width: float
    height: float
    boxes: Sequence[Box]
    lines: Sequence[Line]
    spines: Sequence[str] = ()
    has_labels: bool = True

    @property
    def is_broad(self) -> bool:
        """Whether it is wider than a tablet."""
        return self.width > BROAD


# -- Wide layout -----------------------------------------------------------------------------------


def wide(
    graph: Graph, left: Sequence[Branch], right: Sequence[Branch], columns: Columns = LABELLED
) -> Drawing:
    """The branches of the graph on both sides of its centre, each level in a column of its own."""
    height = max(rows_of(left), rows_of(right), 1) * columns.row
    height = max(height, CENTRE_HEIGHT) + 2 * MARGIN
    centre = _centre(graph.centre, 0, (height - CENTRE_HEIGHT) / 2, columns.box_width)
    boxes: list[Box] = [centre]
    lines: list[Line] = []

    def place(branches: Sequence[Branch], parent: Box, column: int, top: float) -> None:
        for branch in branches:
            rows = rows_of([branch])
            box = _box(branch, column, top + rows * columns.row / 2, columns)
            boxes.append(box)
            lines.append(_line(branch.tie, parent, box, columns.bend))
            place(branch.children, box, column + (1 if column > 0 else -1), top)
            top += rows * columns.row

    for branches, side in ((left, -1), (right, 1)):
        place(branches, centre, side, (height - rows_of(branches) * columns.row) / 2)
    at = {box.node.ref: box for box in boxes}
    crossing = [_crossing(tie, columns.bend, *(at[ref] for ref in tie.ends)) for tie in graph.crossing]
    first, last = min(box.x for box in boxes), max(box.right for box in boxes)
    width = last - first + 2 * MARGIN
    lines = [*crossing, *lines]
    return Drawing("wide", first - MARGIN, width, height, boxes, lines, has_labels=columns.has_labels)


def rows_of(branches: Sequence[Branch]) -> int:
    """How many boxes stand in the highest column of these branches, one above the other."""
    return sum(max(rows_of(branch.children), 1) for branch in branches)


def _box(branch: Branch, column: int, middle: float, columns: Columns) -> Box:
    x, height = column * (columns.box_width + columns.gap), columns.box_height
    return _placed(branch, x, middle - height / 2, columns.box_width, height, columns.lines)


def _line(tie: Tie, parent: Box, child: Box, bend: float) -> Line:
    """A line that bends beside the parent and then runs straight, to leave room for its label."""
    side = 1 if child.x > parent.x else -1
    start, end = (parent.right, child.x) if side > 0 else (parent.x, child.right)
    a, b, turn = parent.middle, child.middle, start + side * bend
    is_away, is_to = tie.leads_to(child.node.ref), tie.leads_to(parent.node.ref)
    # The thick line ends before the tip of its arrow.
    first, last = start + side * is_to * SHAFT, end - side * is_away * SHAFT
    near, far = start + side * bend * 0.3, start + side * bend * 0.7
    path = f"M{first:g} {a:g}C{far:g} {a:g} {near:g} {b:g} {turn:g} {b:g}H{last:g}"
    arrows = [*([_arrow(end, b, side)] if is_away else []), *([_arrow(start, a, -side)] if is_to else [])]
    return Line(tie, path, arrows, (turn + end) / 2, b)


def _crossing(tie: Tie, bend: float, one: Box, other: Box) -> Line:
    """A line between two boxes drawn already: across, or around the boxes of the same column."""
    one, other = sorted((one, other), key=lambda box: box.x)
    a, b = one.middle, other.middle
    if one.x == other.x:
        side = -1 if one.x < 0 else 1
        x = one.x if side < 0 else one.right
        path = f"M{x:g} {a:g}C{x + side * bend:g} {a:g} {x + side * bend:g} {b:g} {x:g} {b:g}"
    else:
        path = f"M{one.right:g} {a:g}C{one.right + bend:g} {a:g} {other.x - bend:g} {b:g} {other.x:g} {b:g}"
    return Line(tie, path, (), role="crossing")


# -- Tall layout -----------------------------------------------------------------------------------


def tall(graph: Graph) -> Drawing:
    """For small screens: one column, with children indented below their parent."""
    centre = _centre(graph.centre, 0, MARGIN, TALL_WIDTH)
    boxes, lines, spines = [centre], [], []
    top = centre.y + centre.height

    def hang(branch: Branch, parent: Box, depth: int) -> Box:
        nonlocal top
        box = _placed(branch, depth * INDENT, top + TALL_ROW - BOX_HEIGHT, TALL_WIDTH - depth * INDENT)
        boxes.append(box)
        lines.append(_tall_line(branch.tie, parent, box))
        top += TALL_ROW
        for child in branch.children:
            far = hang(child, box, depth + 1)
        if branch.children:
            spines.append(_spine(box, far))
        return box

    for branch in graph.branches:
        last = hang(branch, centre, 1)
    if graph.branches:
        spines.append(_spine(centre, last))
    return Drawing("tall", 0, TALL_WIDTH, top + MARGIN, boxes, lines, spines)


def _spine(parent: Box, last: Box) -> str:
    return f"M{parent.x + INDENT / 2:g} {parent.y + parent.height:g}V{last.middle - STUB:g}"


def _tall_line(tie: Tie, parent: Box, child: Box) -> Line:
    """A line from the spine to the box, with its label above."""
    x, y = parent.x + INDENT / 2, child.middle
    is_away, is_to = tie.leads_to(child.node.ref), tie.leads_to(parent.node.ref)
    top, right = y - STUB + is_to * SHAFT, child.x - is_away * SHAFT
    path = f"M{x:g} {top:g}V{y - ELBOW:g}Q{x:g} {y:g} {x + ELBOW:g} {y:g}H{right:g}"
    arrows = [
        *([_arrow(child.x, y, 1)] if is_away else []),
        *([_arrow(x, y - STUB, 0)] if is_to else []),
    ]
    return Line(tie, path, arrows, child.x + 2, child.y - ABOVE)


# -- Pieces ----------------------------------------------------------------------------------------


def _centre(node: Node, x: float, y: float, width: float) -> Box:
    return Box(node, x, y, width, CENTRE_HEIGHT, _lines(node, width, 3), "centre")


def _placed(
    branch: Branch, x: float, y: float, width: float, height: float = BOX_HEIGHT, lines: int = 2
) -> Box:
    role = "suggested" if branch.tie.is_suggested else ""
    return Box(branch.node, x, y, width, height, _lines(branch.node, width, lines), role, branch.more)


def _lines(node: Node, width: float, lines: int) -> list[str]:
    return wrap_text(node.title, (width - 24) / TITLE_SIZE, lines=lines)


def _arrow(x: float, y: float, side: int) -> str:
    """A small triangle with its tip at x, y, pointing right (1), left (-1) or up (0)."""
    if side == 0:
        return f"M{x:g} {y:g}l{ARROW * 0.55:g} {ARROW:g}h{-ARROW * 1.1:g}z"
    return f"M{x:g} {y:g}l{-side * ARROW:g} {-ARROW * 0.55:g}v{ARROW * 1.1:g}z"
