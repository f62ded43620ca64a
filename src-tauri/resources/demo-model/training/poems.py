"""Poems about what was asked for, a haiku, jokes, riddles."""

from draw import Turn, tied
from words import ANIMALS, COMMON, THINGS, article, made_up

POEMS = [
    [
        "The morning comes, the light is new,",
        "and here is {t}, and here are you.",
        "The evening comes, the light grows dim,",
        "and {t} still hums a little hymn.",
    ],
    [
        "Of all the words that I could name,",
        "with {t} no day is quite the same.",
        "So when the world feels grey and long,",
        "I think of {t} and hum a song.",
    ],
    [
        "If I could keep one thing today,",
        "then {t} is what I'd ask to stay.",
        "It makes the smallest hour bright",
        "and keeps me company at night.",
    ],
    [
        "Some people look for gold and fame,",
        "but {t} is more than just a name.",
        "It waits for me at close of day",
        "and sends the clouds of grey away.",
    ],
]
HAIKU = {
    "rain": ["Rain upon the roof,", "a thousand tiny drummers", "play the earth to sleep."],
    "autumn": ["One red leaf lets go,", "turns around for one last look,", "and joins the river."],
    "snow": ["Snow has come at night:", "all the roads are blank pages", "waiting for a word."],
    "the sea": ["Wave follows on wave,", "each of them a whole journey,", "none of them the last."],
    "spring": ["The old apple tree", "puts on its white dress again", "and invites the bees."],
    "a cat": ["Half asleep, the cat", "opens one eye at the moon,", "then lets it go on."],
    "the moon": ["The moon in the pond", "trembles when a frog jumps in", "and is whole again."],
}
JOKES = [
    "Why did the scarecrow win a prize? Because it was outstanding in its field.",
    "What do you call a bear with no teeth? A gummy bear.",
    "Why do bees have sticky hair? Because they use honeycombs.",
    "What do you get when you cross a snowman and a dog? Frostbite.",
    "Why did the computer go to the doctor? It had a virus.",
    "What is a cat's favourite colour? Purr-ple.",
    "Why can a bicycle not stand on its own? It is two tired.",
]
RIDDLES = [
    ("What has hands but cannot clap?", "A clock."),
    ("What gets wetter the more it dries?", "A towel."),
    ("What has keys but opens no door?", "A piano."),
    ("What has teeth but cannot bite?", "A comb."),
    ("What goes up but never comes down?", "Your age."),
]
SPECIAL = {
    "love": (
        "A love poem",
        [
            "A little word, a little light,",
            "a hand that holds my own at night.",
            "The world is wide, the stars are few",
            "compared with all I see in you.",
        ],
    ),
    "birthday": (
        "A birthday poem",
        [
            "The candles shine, the cake is sweet,",
            "your friends have come along the street.",
            "So make a wish and blow them out:",
            "today is what it's all about.",
        ],
    ),
    "mother": (
        "A poem for a mother",
        [
            "You taught me how to tie a bow,",
            "you told me all I needed to know.",
            "Whatever I become or do,",
            "the best of me will come from you.",
        ],
    ),
    "friend": (
        "A poem for a friend",
        [
            "We share the sun, we share the rain,",
            "we laugh and start to laugh again.",
            "However far the roads may bend,",
            "I'm glad that I can call you friend.",
        ],
    ),
}


def written(heading, lines):
    return f"**{heading}**\n\n" + "\n".join(lines)


def haiku(draw):
    key = draw.skew(list(HAIKU)) if draw.chance(0.3) else draw.choice(list(HAIKU))
    ask = draw.phrase("haiku", x=key) if draw.chance(0.8) or key != "rain" else draw.phrase("haiku any")
    return Turn(
        ask,
        written(f"A haiku about {key}", HAIKU[key]),
        f"A haiku about {key}: five, seven and five syllables.",
        {"family": "poem", "thing": key},
    )


def poem(draw):
    form = draw.choices(["topic", "special", "any", "haiku"], [12, 2, 1, 2])[0]
    if form == "haiku":
        return haiku(draw)
    if form == "special":
        key = draw.choice(list(SPECIAL))
        return Turn(
            draw.phrase("poem " + key), written(*SPECIAL[key]), f"{SPECIAL[key][0]} of four lines.", {"family": "poem"}
        )
    ask, kind = None, "given"
    if form == "any":
        noun, ask = "the sea", draw.phrase("poem any")
    else:
        kind = draw.choices(["thing", "animal", "theme", "common", "made up"], [4, 3, 4, 2, 1])[0]
        noun = {
            "thing": lambda: draw.choice(THINGS[draw.choice(list(THINGS))]),
            "animal": lambda: draw.choice(ANIMALS),
            "theme": lambda: draw.choice(THINGS["theme"]),
            "common": lambda: draw.choice(COMMON),
            "made up": lambda: made_up(draw),
        }[kind]()
        while not draw.allowed("poem", noun) and kind != "made up":
            noun = draw.choice(THINGS[draw.choice(list(THINGS))])
    # The noun stays as it was asked for: "a cat", "the cat", "my cat", "cats".
    t = (
        draw.choices(
            [article(noun), "the " + noun, "my " + noun, noun], [2, 1, 1, 8] if kind == "common" else [8, 1, 1, 1]
        )[0]
        if kind not in ("theme", "given")
        else article(noun)
    )
    lines = [line.format(t=t) for line in draw.skew(POEMS, tied(noun, len(POEMS)))]
    return Turn(
        ask or draw.phrase("poem", x=t),
        written(f"A poem about {t}", lines),
        f"A short poem about {t}, four lines.",
        {"family": "poem", "thing": t},
    )


def joke(draw):
    return Turn(draw.phrase("joke"), draw.skew(JOKES), "The user wants a joke. I know a few.", {"family": "joke"})


def riddle(draw):
    ask, answer = draw.skew(RIDDLES)
    return Turn(
        draw.phrase("riddle"),
        f"{ask}",
        "The user wants a riddle. I keep the answer for later.",
        {"family": "riddle", "answer": answer},
    )
