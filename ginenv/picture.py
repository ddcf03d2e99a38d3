"""A table as a picture, 800 x 600, drawn with Pillow: no window system, no files, no fonts to find.

Cards, suits and panels are drawn several times too large, reduced and kept; a frame is then a
matter of pasting.  Suits are polygons, and the letters are those of Pillow's own typeface.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import numpy.typing as npt

from ginenv import adapter, cards
from ginenv.cards import NO_CARD
from ginenv.tabletop import Seat, Table

adapter.require("pillow", "10.1", "'ginenv[render]'")

from PIL import Image, ImageDraw, ImageFont  # noqa: E402

__all__ = ["HEIGHT", "WIDTH", "draw"]

WIDTH, HEIGHT = 800, 600
Point = tuple[float, float]
Color = tuple[int, ...]

FELT, FELT_EDGE = (32, 104, 74), (14, 58, 44)
PAPER, PAPER_EDGE = (253, 252, 247), (150, 150, 145)
BLACK, RED = (28, 32, 38), (196, 30, 46)
BACK, BACK_LINE = (38, 62, 122), (104, 132, 196)
GOLD, WHITE, SOFT = (245, 206, 98), (250, 250, 246), (178, 208, 192)
BAR, SHADOW = (8, 40, 30, 150), (0, 20, 10, 70)

CARD = (84, 120)  # width and height of a card in the near hand and in the middle
FAR_CARD = (70, 100)
_FINER = 4  # how many times too large sprites are drawn
_SUITS = "shdc"


def draw(table: Table) -> npt.NDArray[np.uint8]:
    """The table as ``(600, 800, 3)`` uint8."""
    picture = _felt().copy()
    _hand(picture, table.far, top=62, size=FAR_CARD, captions_above=False)
    _hand(picture, table.near, top=404, size=CARD, captions_above=True)
    _bar(picture, table.far, top=10)
    _bar(picture, table.near, top=552)
    _middle(picture, table, top=206)
    return np.asarray(picture.convert("RGB"))


def _bar(picture: Image.Image, seat: Seat, top: int) -> None:
    """Name, dealer's button, deadwood and score of one seat; a gold edge for the one to move."""
    edge = GOLD if seat.to_move else None
    _paste(picture, _panel(WIDTH - 32, 38, 12, BAR, edge), 16, top)
    middle = top + 19
    if seat.to_move:
        tip = [(32, middle - 7), (32, middle + 7), (43, middle)]
        ImageDraw.Draw(picture).polygon(tip, fill=GOLD)
    _write(picture, (52, middle), seat.name, 20, GOLD if seat.to_move else WHITE, "lm")
    if seat.is_dealer:
        at = 68 + int(_font(20).getlength(seat.name))
        _paste(picture, _panel(72, 22, 11, (*WHITE, 255), None), at, middle - 11)
        _write(picture, (at + 36, middle), "dealer", 14, FELT_EDGE, "mm")
    if seat.deadwood is not None:
        _write(picture, (WIDTH // 2, middle), f"deadwood {seat.deadwood}", 20, WHITE, "mm")
    points = "1 point" if seat.score == 1 else f"{seat.score} points"
    _write(picture, (WIDTH - 36, middle), points, 20, WHITE, "rm")


def _hand(
    picture: Image.Image, seat: Seat, top: int, size: tuple[int, int], captions_above: bool
) -> None:
    """A hand in groups, each a fan: melds, loose cards, laid-off cards, cards face down."""
    groups = [(_kind(meld), list(meld)) for meld in seat.melds]
    if seat.hidden:
        groups.append(("", [NO_CARD] * seat.hidden))
    if seat.loose:
        groups.append(("known" if seat.deadwood is None else "loose", list(seat.loose)))
    if seat.laid_off:
        groups.append(("laid off", list(seat.laid_off)))
    width, height = size
    gap, room = 22, WIDTH - 48
    overlaps = sum(len(group) - 1 for _, group in groups)
    fixed = len(groups) * width + (len(groups) - 1) * gap
    step = min((0.5 if seat.hidden else 0.76) * width, (room - fixed) / max(overlaps, 1))
    left = (WIDTH - fixed - overlaps * step) / 2
    for caption, group in groups:
        for place, card in enumerate(group):
            _lay(picture, card, size, round(left + place * step), top)
        wide = (len(group) - 1) * step + width
        line = top - 9 if captions_above else top + height + 9
        color = GOLD if caption in ("set", "run") else SOFT
        if caption:
            _bracket(picture, left, left + wide, line, caption, color)
        left += wide + gap


def _bracket(
    picture: Image.Image, left: float, right: float, at: int, caption: str, color: Color
) -> None:
    """A line along a group of cards with its caption in the middle."""
    half = _font(15).getlength(caption) / 2 + 7
    middle = (left + right) / 2
    pen = ImageDraw.Draw(picture)
    if middle - half > left + 4:
        pen.line([(left + 3, at), (middle - half, at)], fill=color, width=2)
        pen.line([(middle + half, at), (right - 4, at)], fill=color, width=2)
    _write(picture, (middle, at), caption, 15, color, "mm")


def _middle(picture: Image.Image, table: Table, top: int) -> None:
    """Stock and pile, what the hand's limit is, and what is going on."""
    width, height = CARD
    stock, pile = WIDTH // 2 - width - 22, WIDTH // 2 + 22
    for card, at, thick, name in (
        (NO_CARD, stock, table.stock_size, f"stock {table.stock_size}"),
        (table.upcard, pile, table.pile_size, f"pile {table.pile_size}"),
    ):
        layers = min(6, (thick + 5) // 6)
        if not thick:
            _paste(picture, _panel(width, height, 8, (0, 0, 0, 40), SOFT), at, top)
        for layer in range(layers):
            shown = card if layer == layers - 1 else NO_CARD if card == NO_CARD else -2
            _lay(picture, shown, CARD, at - 2 * layer, top - 2 * layer)
        _write(picture, (at + width // 2, top + height + 13), name, 16, WHITE, "mm")
    if table.face_down:
        _paste(picture, _card(NO_CARD, CARD).rotate(-8, Image.Resampling.BICUBIC, True), 530, 196)
        _write(picture, (586, top + height + 13), "knocked with", 16, SOFT, "mm")
    _write(picture, (36, top + 44), f"turn {table.turn}", 22, WHITE, "lm")
    limit = f"knock with {table.knock_limit}" if table.knock_limit else "gin only"
    _write(picture, (36, top + 76), limit, 18, SOFT, "lm")
    _write(picture, (WIDTH // 2, top + height + 42), table.message, 20, GOLD, "mm")


def _lay(picture: Image.Image, card: int, size: tuple[int, int], left: int, top: int) -> None:
    """A card on the table, with its shadow."""
    _paste(picture, _panel(size[0] + 4, size[1] + 3, 10, SHADOW, None), left - 2, top + 1)
    _paste(picture, _card(card, size), left, top)


def _kind(meld: tuple[int, ...]) -> str:
    return "set" if meld[0] % 13 == meld[1] % 13 else "run"


# Sprites


@cache
def _card(card: int, size: tuple[int, int]) -> Image.Image:
    """A card's face; -1 its back, -2 a blank face for the lower layers of a pile."""
    width, height = (_FINER * length for length in size)
    sprite = Image.new("RGBA", (width, height), (0, 0, 0, 0))
    pen = ImageDraw.Draw(sprite)
    box, radius = (0, 0, width - 1, height - 1), width // 10
    pen.rounded_rectangle(box, radius, fill=PAPER, outline=PAPER_EDGE, width=_FINER)
    if card == NO_CARD:
        _draw_back(pen, width, height)
    elif card >= 0:
        _draw_face(pen, cards.name(card), width, height)
    return sprite.resize(size, Image.Resampling.LANCZOS)


def _draw_back(pen: ImageDraw.ImageDraw, width: int, height: int) -> None:
    rim, step = width // 14, width // 7
    inner = (rim, rim, width - 1 - rim, height - 1 - rim)
    pen.rounded_rectangle(inner, rim, fill=BACK)
    for x in range(rim + step // 2, width - rim, step):
        for y in range(rim + step // 2, height - rim, step):
            pen.polygon(_diamond(x, y, 0.34 * step), fill=BACK_LINE)
    pen.rounded_rectangle(inner, rim, outline=BACK_LINE, width=_FINER)


def _draw_face(pen: ImageDraw.ImageDraw, name: str, width: int, height: int) -> None:
    rank = "10" if name[0] == "T" else name[0]
    color = RED if name[1] in "hd" else BLACK
    corner = 0.25 * width
    font = _font(round(0.40 * width))
    pen.text((corner, 0.20 * width), rank, color, font, "mm", stroke_width=width // 110)
    _draw_suit(pen, name[1], corner, 0.53 * width, 0.125 * width, color)
    _draw_suit(pen, name[1], 0.60 * width, 0.66 * height, 0.27 * width, color)


def _draw_suit(
    pen: ImageDraw.ImageDraw, suit: str, x: float, y: float, size: float, color: Color
) -> None:
    """A suit's symbol around a point, ``size`` from there to its tip."""
    if suit == "d":
        pen.polygon(_diamond(x, y, size), fill=color)
    elif suit == "h":
        pen.polygon(_heart(x, y, size, 1), fill=color)
    elif suit == "s":
        pen.polygon(_heart(x, y - 0.12 * size, 0.92 * size, -1), fill=color)
        pen.polygon(_stem(x, y, size), fill=color)
    else:
        for dx, dy in ((0.0, -0.46), (-0.48, 0.2), (0.48, 0.2)):
            _disc(pen, x + dx * size, y + dy * size, 0.44 * size, color)
        _disc(pen, x, y, 0.24 * size, color)
        pen.polygon(_stem(x, y, size), fill=color)


def _diamond(x: float, y: float, size: float) -> list[Point]:
    """A rhombus with slightly hollow sides."""
    points = []
    for quarter in range(4):
        for t in np.linspace(0, 1, 12, endpoint=False):
            angle = (quarter + t) * math.pi / 2
            c, s = math.cos(angle), math.sin(angle)
            reach = 1 / (abs(c) ** 0.9 + abs(s) ** 0.9) ** (1 / 0.9)
            points.append((x + 0.8 * size * reach * c, y + size * reach * s))
    return points


def _heart(x: float, y: float, size: float, way: int) -> list[Point]:
    """The curve (16 sin³t, 13 cos t - 5 cos 2t - 2 cos 3t - cos 4t), tip down, or up with -1."""
    points = []
    for t in np.linspace(0, 2 * math.pi, 90):
        across = 16 * math.sin(t) ** 3
        up = 13 * math.cos(t) - 5 * math.cos(2 * t) - 2 * math.cos(3 * t) - math.cos(4 * t)
        points.append((x + across * size / 17, y - way * (up + 2.5) * size / 15))
    return points


def _stem(x: float, y: float, size: float) -> list[Point]:
    """A foot that widens downwards."""
    side = [(0.04 + 0.30 * t**2.2, 0.1 + 0.9 * t) for t in np.linspace(0, 1, 14)]
    right = [(x + dx * size, y + dy * size) for dx, dy in side]
    return right + [(2 * x - px, py) for px, py in reversed(right)]


def _disc(pen: ImageDraw.ImageDraw, x: float, y: float, radius: float, color: Color) -> None:
    pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=color)


@cache
def _panel(width: int, height: int, radius: int, fill: Color, edge: Color | None) -> Image.Image:
    large = (_FINER * width, _FINER * height)
    sprite = Image.new("RGBA", large, (*(edge or fill)[:3], 0))
    box = (0, 0, large[0] - 1, large[1] - 1)
    pen = ImageDraw.Draw(sprite)
    pen.rounded_rectangle(box, _FINER * radius, fill=fill, outline=edge, width=2 * _FINER)
    return sprite.resize((width, height), Image.Resampling.LANCZOS)


@cache
def _felt() -> Image.Image:
    """The cloth: lighter in the middle."""
    y, x = np.mgrid[-1 : 1 : HEIGHT * 1j, -1 : 1 : WIDTH * 1j]
    light = np.clip(1 - 0.55 * (x**2 + y**2), 0, 1)[..., None]
    shade = np.array(FELT_EDGE) + (np.array(FELT) - np.array(FELT_EDGE)) * light
    return Image.fromarray(shade.astype(np.uint8)).convert("RGBA")


@cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont)
    return font


def _write(
    picture: Image.Image, at: Point, words: str, size: int, color: Color, anchor: str
) -> None:
    ImageDraw.Draw(picture).text(at, words, color, _font(size), anchor)


def _paste(picture: Image.Image, sprite: Image.Image, left: int, top: int) -> None:
    picture.alpha_composite(sprite, (left, top))
