"""Short stories about what was asked for: a hero, a thing, or both.

The kind of the thing chooses the plot, so that what happens makes sense and the thing matters: the title names it, the
third sentence uses it, the last one remembers it.
"""

from draw import Turn, held_out, tied
from words import GIVEN, HEROES, KIND, MOODS, NAMES, PLACES, SETTINGS, THINGS, article, definite, made_up

# {n} hero's name, {a} hero, {f} friend's name, {b} friend, {t} "the lantern", {at} "a lantern".
PLOTS = {
    "light": [
        [
            "One evening {n} found {at} in the tall grass.",
            "{t} shone so brightly that the whole path lit up.",
            "Then {n} heard a small voice: it was {f}, {ab} who had lost the way home.",
            "{n} held {t} high, and together they walked through the dark.",
            "From that night on, {t} stood by the door, so that nobody got lost again.",
        ],
        [
            "The nights were long, and {n} was afraid of the dark.",
            "So an old friend gave {n} {at} that glowed like gold.",
            "When a storm came, {n} saw that {f}, {ab}, was even more afraid.",
            "{n} shared the light of {t}, and they told jokes until morning.",
            "Since then {n} has not feared the dark, and {t} still glows.",
        ],
    ],
    "music": [
        [
            "One day {n} heard a sound and found {at} under a bench.",
            "Nobody had used {t} for years, but it still sounded sweet.",
            "{f}, {ab} who lived next door, came to listen.",
            "{n} practised every day, and {f} clapped along.",
            "At the summer party everybody danced, and {t} was the heart of the music.",
        ],
        [
            "{n} wanted to cheer up the whole street.",
            "With {at} and a big smile, {n} began to play a little tune.",
            "First came {f}, {ab} with tired feet, and then all the neighbours.",
            "They sang and laughed until the stars came out.",
            "Now the street is never sad, because {t} plays every Sunday.",
        ],
    ],
    "food": [
        [
            "One morning {n} woke up very hungry.",
            "On the table lay {at}, and it smelled wonderful.",
            "Just then {f}, {ab}, knocked at the door and had not eaten all day.",
            "{n} thought for a moment and cut {t} into two equal halves.",
            "They both agreed that {t} tasted twice as good when it was shared.",
        ],
        [
            "{n} wanted to win the prize at the village fair.",
            "So {n} went to the market and chose the finest {bare} of all.",
            "On the way home {f}, {ab}, looked sad and hungry.",
            "{n} gave {t} away and went to the fair with empty hands.",
            "The judges heard about {t}, and {n} won the prize for the kindest heart.",
        ],
    ],
    "travel": [
        [
            "{n} dreamed of seeing the world.",
            "One day {n} found {at} that nobody needed any more, and repaired it.",
            "{f}, {ab} from next door, packed some bread and came along.",
            "With {t} they went over hills and past seven lakes.",
            "When they came home, they thanked {t} and planned the next journey.",
        ],
        [
            "A letter had to reach the next town before night.",
            '{n} had {at} and said: "I will take it there."',
            "Halfway {n} met {f}, {ab} who was too tired to walk.",
            '"There is room for two," said {n}, and {t} carried them both.',
            "The letter came in time, and {t} got a new coat of paint.",
        ],
    ],
    "container": [
        [
            "At the market {n} bought {at} for one small coin.",
            "When {n} opened {t} at home, a tiny note was inside.",
            '"Please bring this back to {f}," it said, so {n} went to look for {f}, {ab}.',
            "{f} had missed {t} for a whole year and jumped for joy.",
            "As a thank-you they filled {t} with nuts and berries and shared them all.",
        ],
        [
            "{n} liked to collect small things.",
            "One day {n} found {at} that was just the right size.",
            '"What will you put into it?" asked {f}, {ab}.',
            '"Only good memories," said {n}, and put in a leaf from their walk.',
            "Many years later {t} was full, and they looked at every memory together.",
        ],
    ],
    "tool": [
        [
            "One day the gate of the garden would not open.",
            "{n} went to the shed and came back with {at}.",
            '{f}, {ab}, watched and asked: "Can I help you?"',
            "Together they used {t}, pulled and pushed, and at last the gate swung open.",
            "Behind it lay a hidden garden, and {t} now hangs beside the gate.",
        ],
        [
            "{n} liked to repair things for other people.",
            "The best helper was {at} that had belonged to {n}'s grandmother.",
            "One night a storm broke the roof of {f}, {ab} with three small children.",
            "{n} took {t} and worked until the rain stayed outside.",
            "Now everybody in the village knows {n} and {t}.",
        ],
    ],
    "toy": [
        [
            "It was a rainy day, and {n} did not know what to do.",
            "Then {n} found {at} at the bottom of an old box.",
            "{f}, {ab}, looked through the window and smiled.",
            "They played with {t} until the rain stopped, and then they played on.",
            'In the evening {n} said: "Tomorrow {t} is yours," and from then on they took turns.',
        ],
        [
            "For a birthday {n} got {at} with bright colours.",
            "{n} took {t} everywhere, even to bed.",
            "One day {f}, {ab}, was ill and could not go outside.",
            "{n} brought {t} along and stayed the whole afternoon.",
            "{f} soon felt better, and {t} had never had such a good day.",
        ],
    ],
    "clothes": [
        [
            "The first cold wind blew, and {n} began to shiver.",
            "At the market an old lady sold {at} that was warm and soft.",
            "On the way back {n} saw {f}, {ab} who was shivering too.",
            "{n} gave {t} to {f} and ran home quickly.",
            "The next day {f} came with hot tea, and they have shared {t} ever since.",
        ],
        [
            "One windy day {at} flew past the window.",
            "{n} ran after {t} and caught it at the last moment.",
            "It belonged to {f}, {ab} who had been looking for it everywhere.",
            '"You are as fast as the wind!" said {f} and laughed.',
            "They became good friends, and whenever the wind blows, {f} holds on to {t}.",
        ],
    ],
    "writing": [
        [
            "In an old desk {n} discovered {at} with gold edges.",
            "{n} looked at {t} for a long time: it told of a secret place.",
            '"Let us look for it," said {f}, {ab} with a big backpack.',
            "They followed {t} over the bridge and up the hill.",
            "At the top there was no gold, but the finest view, and {t} had led them there.",
        ],
        [
            "{n} wanted to say sorry to {f}, {ab} who lived far away.",
            "So {n} took {at} and thought about every word.",
            "The postman carried it over three mountains.",
            "When {f} saw {t}, all the anger was gone.",
            "A week later {f} stood at the door, and they laughed about {t} together.",
        ],
    ],
    "looking": [
        [
            "In the attic {n} found {at} under a thick layer of dust.",
            "When {n} looked into {t}, a faraway island appeared.",
            "{f}, {ab}, did not believe it and came to see for themselves.",
            "They both looked, and the island waved back at them.",
            "Every evening they meet at {t} and wave to their friends on the island.",
        ],
        [
            "{n} always wanted to see what others do not see.",
            "One day {at} helped {n} to see a nest high up in a tree.",
            "In the nest sat {f}, {ab} who could not get down.",
            "{n} called for help, and soon {f} was safe on the ground.",
            '"What luck that you had {t}!" said {f}, and {n} was proud.',
        ],
    ],
    "place": [
        [
            "Nobody had visited the end of the road for years.",
            "There {n} found {at}, old and quiet and full of dust.",
            '"It looks lonely," said {f}, {ab} who had come along.',
            "They cleaned it and painted it and planted flowers all around.",
            "Now {t} is the place where all the neighbours meet on Sundays.",
        ],
        [
            "One night {n} dreamed of {at} with a silver door.",
            "The next morning {n} went to look for {t} and found it behind the hill.",
            '{f}, {ab}, opened the door and said: "I have waited for you."',
            "They drank tea and talked until noon.",
            "Whenever {n} feels alone, there is always a light in {t}.",
        ],
    ],
    "nature": [
        [
            "On a walk {n} discovered {at} that was more beautiful than all others.",
            "{n} sat down, looked at {t} and forgot the time.",
            '"What are you looking at?" asked {f}, {ab} in a great hurry.',
            "{n} pointed at {t}, and {f} sat down too and grew calm.",
            "Since that day they visit {t} every week and are never in a hurry.",
        ],
        [
            "{n} was looking for a present for {f}, {ab} who had everything.",
            "In the end {n} chose {at}, a small wonder of nature.",
            '"Is that all?" asked the others and laughed.',
            "But {f} looked at {t} for a long time and smiled.",
            '"This is the best present," said {f}, and nobody ever forgot {t}.',
        ],
    ],
    "machine": [
        [
            "In a dusty corner {n} found {at} that did not work.",
            "{n} opened {t}, cleaned every part and put it together again.",
            '"It will never run," said {f}, {ab}.',
            "Then {t} began to hum, and a small green lamp lit up.",
            "{f} cheered, and {t} has worked every day since then.",
        ],
        [
            "{n} built {at} out of old parts.",
            "At first {t} made only funny noises.",
            "{f}, {ab} with patient hands, helped to find the mistake.",
            "It was a single loose screw, and soon everything ran smoothly.",
            "All the children came to see {t}, and {n} explained how it worked.",
        ],
    ],
    "treasure": [
        [
            "After the rain {n} saw something shining in the mud.",
            "It was {at}, small and bright like the sun.",
            '"I lost it on my wedding day," said {f}, {ab} with tears of joy.',
            "{n} gave {t} back at once and wanted nothing for it.",
            "{f} told everybody, and {n} learned that honesty shines brighter than {t}.",
        ],
        [
            "An old story told of {at} at the bottom of the lake.",
            "{n} dived three times, and the third time {n} held {t} in both hands.",
            "At the shore stood {f}, {ab} who needed help for the village.",
            "They gave {t} away and built a new bridge.",
            "Everybody who crosses the bridge remembers {n} and {t}.",
        ],
    ],
    "theme": [
        [
            "{n} often thought about {t}.",
            "Nobody could explain {t}, and so {n} wanted to learn more about it.",
            '"Sit down beside me," said {f}, {ab} who was old and wise.',
            "They talked about {t} until the stars came out.",
            "That night {n} understood: you need not explain {t} to be happy about it.",
        ],
        [
            "Of all things in the world, {n} loved {t} the most.",
            "One day {n} wrote a song about {t} and sang it at the window.",
            '{f}, {ab}, heard it and asked: "Will you teach me?"',
            "Soon they sang it together, and others joined in.",
            "In the end the whole village sang about {t}.",
        ],
    ],
    "hero": [
        [
            "One day {n} met {at} who was all alone.",
            '"Come with me," said {n}, and {t} smiled for the first time that day.',
            "On the way they found {f}, {ab} who had lost a key.",
            "{n} looked left, {t} looked right, and soon the key was found.",
            "From that day on, {n} and {t} were the best of friends.",
        ],
        [
            "{n} and {at} both wanted to cross the old bridge first.",
            '"I was here before you," said {t}, and neither would give way.',
            "Then {f}, {ab} with a heavy bag, asked them for help.",
            "They carried the bag together, and {t} began to laugh.",
            "Since then {n} and {t} have met at the bridge every Sunday.",
        ],
    ],
    None: [
        [
            "One day {n} found {at} and had no idea what it was for.",
            "{n} turned {t} around and around, and suddenly it began to hum.",
            '"I know what that is!" called {f}, {ab} from across the road.',
            '"It brings friends together," said {f}, and they both laughed.',
            "{t} has stood between their two houses ever since.",
        ],
        [
            "{n} had always wanted {at}.",
            "On a sunny morning {t} lay in front of the door with a red ribbon.",
            "It was a present from {f}, {ab} who knew about the wish.",
            "They spent the whole day with {t} and did not get bored.",
            "In the evening {n} said thank you for {t} and for a good friend.",
        ],
    ],
}
OPENINGS = [
    "{n} was {am} {a} who lived {p}.",
    "Once upon a time there was {am} {a} called {n}, who lived {p}.",
    "There once lived {am} {a} called {n} {p}.",
]
FAVOURITE = ["lantern", "kite", "basket", "drum", "book", "boat", "scarf", "clock"]
HERO_OF = {
    "light": "mouse",
    "music": "bear",
    "food": "rabbit",
    "travel": "fox",
    "container": "squirrel",
    "tool": "beaver",
    "toy": "kitten",
    "clothes": "penguin",
    "writing": "owl",
    "looking": "cat",
    "place": "hedgehog",
    "nature": "deer",
    "machine": "robot",
    "treasure": "crow",
    "theme": "owl",
}


def usual_thing(hero):
    """The thing in a story for which only the hero was asked."""
    first = tied(hero, len(FAVOURITE))
    return next(t for t in FAVOURITE[first:] + FAVOURITE[:first] if not held_out("story", hero, t))


def usual_hero(thing):
    """The hero of a story for which only the thing was asked."""
    return next(h for h in [HERO_OF[KIND[thing]], *HEROES] if not held_out("story", h, thing))


# Told when any story will do.
USUAL = [(hero, usual_thing(hero)) for hero in ("fox", "owl", "bear", "mouse")]


def sentence(text):
    return text[0].upper() + text[1:]


def title(hero, thing):
    return f"**{sentence(definite(hero))} and {definite(thing)}**"


def tell(draw, hero, thing, name=None, place=None, short=False):
    """A story as title and text, with the names in it."""
    name = name or draw.skew(NAMES, tied(hero, len(NAMES)))
    first = tied(hero, len(NAMES), "friend")
    friend = draw.skew([n for n in NAMES if n != name], first)
    other = draw.skew([h for h in HEROES[:40] if h != hero], tied(hero, 40))
    plot = draw.skew(PLOTS["hero" if thing in HEROES else KIND.get(thing)])
    parts = {
        "n": name,
        "a": hero,
        "f": friend,
        "b": other,
        "ab": article(other),
        "t": definite(thing),
        "at": article(thing),
        "bare": thing,
        "am": article(draw.skew(MOODS, tied(hero, len(MOODS)))),
        "p": place or draw.skew(PLACES, tied(hero, len(PLACES))),
    }
    opening = draw.skew(OPENINGS)
    lines = [opening, plot[0], plot[1], plot[4]] if short else [opening, *plot]
    if short:
        lines[3] = "From that day on, {n} never forgot {t}."
    text = " ".join(sentence(line.format(**parts)) for line in lines)
    return f"{title(hero, thing)}\n\n{text}", {"name": name, "friend": friend, "other": other}


def hero_and_thing(draw):
    """A hero and a thing; one of ten words is made up."""

    def pair():
        return draw.choice(HEROES), draw.choice(THINGS[draw.choice(list(THINGS))])

    hero, thing = draw.until(pair, "story")
    if draw.chance(0.1):
        thing = made_up(draw)
    elif draw.chance(0.1):
        other = draw.choice(HEROES)
        thing = other if other != hero and draw.allowed("story", hero, other) else thing
    if draw.chance(0.07):
        hero = made_up(draw)
    return hero, thing


def make(draw, ask, hero, thing, think, short=False, **extra):
    text, names = tell(draw, hero, thing, short=short, **extra)
    return Turn(ask, text, think, {"family": "story", "hero": hero, "thing": thing, "short": short, **names})


def both(draw):
    """A request that names a hero and a thing."""
    hero, thing = hero_and_thing(draw)
    x, y = article(hero), article(thing)
    think = draw.skew(
        [
            f"The user wants a story about {x} and {y}. I keep it short.",
            f"A story with {x} and {y}. {sentence(definite(thing))} should matter in it.",
        ]
    )
    if draw.chance(0.1):
        x, y = definite(hero), definite(thing)
    if draw.chance(0.08):
        return make(draw, draw.phrase("story.finds", x=x, y=y), hero, thing, think)
    if draw.chance(0.3):
        x, y = y, x
    return make(draw, draw.phrase("story.both", x=x, y=y), hero, thing, think)


def story(draw):
    """A request for a story of any form."""
    form = draw.choices(["both", "hero", "thing", "any", "named", "place", "short"], [58, 10, 8, 3, 8, 6, 7])[0]
    if form == "both":
        return both(draw)
    hero, thing = hero_and_thing(draw)
    if form == "hero":
        # Whatever nobody has heard of is a hero.
        hero = made_up(draw) if draw.chance(0.2) else hero
        thing = usual_thing(hero)
        return make(
            draw,
            draw.phrase("story.one", x=article(hero)),
            hero,
            thing,
            f"The user wants a story about {article(hero)}. I add {article(thing)}.",
        )
    if form == "thing" and thing in KIND:
        hero = usual_hero(thing)
        return make(
            draw,
            draw.phrase("story.one", x=article(thing)),
            hero,
            thing,
            f"The user wants a story about {article(thing)}. I tell it with {article(hero)}.",
        )
    if form == "any":
        hero, thing = draw.skew(USUAL)
        return make(
            draw,
            draw.phrase("story.any"),
            hero,
            thing,
            f"Any story will do. I tell one about {article(hero)} and {article(thing)}.",
        )
    if form == "named":
        name = draw.choice(GIVEN) if draw.chance(0.7) else made_up(draw).capitalize()
        thing = usual_thing(hero)
        return make(
            draw,
            draw.phrase("story.named", x=article(hero), n=name),
            hero,
            thing,
            f"The user wants a story about {article(hero)} called {name}. I keep the name.",
            name=name,
        )
    if form == "place":
        place = draw.choice(SETTINGS)
        thing = usual_thing(hero)
        return make(
            draw,
            draw.phrase("story.place", x=article(hero), p=place),
            hero,
            thing,
            f"The user wants a story about {article(hero)} {place}.",
            place=place,
        )
    if form == "thing":
        return both(draw)
    return make(
        draw,
        draw.phrase("story.short", x=article(hero), y=article(thing)),
        hero,
        thing,
        f"A very short story about {article(hero)} and {article(thing)}.",
        short=True,
    )
