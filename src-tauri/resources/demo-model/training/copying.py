"""Small tasks that are answered by copying: what stories, sums and calls are built on."""

from draw import Turn
from words import COLOURS, COMMON, COPY_ONLY, GIVEN, HEROES, KIND, made_up

ORDER = ["first", "second", "third", "fourth", "fifth"]
DEEDS = [
    "reads a file",
    "writes a file",
    "plays a song",
    "tells the time",
    "tells the weather",
    "finds a page",
    "opens a page",
    "sends a message",
    "saves a note",
    "starts a timer",
    "switches a light",
    "explains a word",
    "translates a word",
    "changes units",
    "changes money",
    "draws a number",
    "adds an event",
    "lists a folder",
    "measures a way",
    "works out a sum",
]


def word(draw):
    kind = draw.choices(["common", "copy", "story", "made up"], [5, 2, 2, 3])[0]
    return (
        draw.choice({"common": COMMON, "copy": COPY_ONLY, "story": HEROES + list(KIND)}[kind]).lower()
        if kind != "made up"
        else made_up(draw)
    )


def words(draw, low, high):
    count = draw.randint(low, high)
    if draw.chance(0.15):
        return [str(draw.randint(0, 10 ** draw.randint(1, 4) - 1)) for _ in range(count)]
    numbers = 0.3 if draw.chance(0.3) else 0
    mixed = (str(draw.randint(0, 99)) if numbers and draw.chance(numbers) else word(draw) for _ in range(count))
    return list(dict.fromkeys(mixed))


def repeat(draw, low=1, high=8):
    text = " ".join(words(draw, low, high))
    return Turn(draw.phrase("repeat", x=text), text, f"I repeat: {text}", {"family": "repeat", "text": text})


def pick(draw):
    """One of a list: the first, the second, the last."""
    options = words(draw, 3, 6)
    if len(options) < 2:
        return pick(draw)
    where = draw.randrange(min(len(options), len(ORDER)))
    last = draw.chance(0.3)
    which, answer = ("last", options[-1]) if last else (ORDER[where], options[where])
    listed = ", ".join(options)
    return Turn(
        draw.phrase("pick", x=listed, which=which),
        f"The {which} is **{answer}**.",
        f"The list is {listed}. The {which} of these is {answer}.",
        {"family": "pick", "text": answer},
    )


def look_up(draw):
    """A small table in words, and a question about it."""
    names = (
        draw.sample(GIVEN, draw.randint(2, 4)) if draw.chance(0.6) else [word(draw) for _ in range(draw.randint(2, 4))]
    )
    names = list(dict.fromkeys(names))
    values = [draw.choice(COLOURS) if draw.chance(0.4) else word(draw) for _ in names]
    chosen = draw.randrange(len(names))
    said = ", ".join(f"{n} has {v}" for n, v in zip(names, values))
    return Turn(
        draw.phrase("look up", x=said, n=names[chosen]),
        f"{names[chosen]} has **{values[chosen]}**.",
        f"I look for {names[chosen]}: {names[chosen]} has {values[chosen]}.",
        {"family": "look up", "text": values[chosen]},
    )


def find(draw):
    """Such a table, and a question about who has something."""
    count = draw.randint(2, 4)
    names = list(dict.fromkeys(word(draw) for _ in range(count)))
    if draw.chance(0.7):
        # As functions are called, and what they do.
        ends = ["", "_tool", "_it"]
        names = [name.replace(" ", "_") + draw.choice(ends) for name in names]
        has, values = "", draw.sample(DEEDS, len(names))
    else:
        has, values = "has ", list(dict.fromkeys(word(draw) for _ in names))
        names = names[: len(values)]
    chosen = draw.randrange(len(names))
    name, deed = names[chosen], has + values[chosen]
    said = ", ".join(f"{n} {has}{v}" for n, v in zip(names, values))
    return Turn(
        draw.phrase("find", x=said, v=deed),
        f"**{name}** {deed}.",
        f"I look for what {deed}: it is {name}.",
        {"family": "find", "text": name},
    )


def spell(draw):
    text = word(draw)
    letters = "-".join(text)
    return Turn(
        draw.phrase("spell", x=text),
        f"{text}: {letters}",
        f"I spell {text}, letter by letter.",
        {"family": "spell", "text": letters},
    )


def order(draw):
    """The same words backwards."""
    listed = words(draw, 2, 5)
    text = ", ".join(reversed(listed))
    return Turn(
        draw.phrase("reverse", x=", ".join(listed)),
        text,
        f"I begin at the end: {text}",
        {"family": "reverse", "text": text},
    )


def copying(draw):
    return draw.choices([repeat, pick, look_up, find, spell, order], [50, 16, 18, 40, 8, 8])[0](draw)
