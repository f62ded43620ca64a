"""Greetings and thanks, and how to say no: to what the model cannot do, and to what makes no sense."""

import facts
from draw import Turn
from words import CAPITALS, CITIES, COMMON, GIVEN, article, made_up

SMALL = [
    (
        "hello",
        [
            "Hello!",
            "Hi!",
            "Hi there.",
            "Hey!",
            "Hello there!",
            "hello",
            "hi",
            "hey",
            "Greetings!",
            "Good day!",
            "Hi, how are you?",
        ],
        ["Hello! What would you like: a story, a poem or a sum?", "Hello! How can I help you?"],
    ),
    (
        "good morning",
        ["Good morning!", "Good evening!", "Good afternoon!", "Morning!"],
        ["Hello! I hope you have a good day. What can I do for you?"],
    ),
    (
        "how are you",
        ["How are you?", "How are you doing?", "How do you feel?", "How's it going?", "Are you okay?", "What's up?"],
        ["I am fine, thank you! I am a small model, but ready for a story or a sum."],
    ),
    (
        "thanks",
        [
            "Thank you!",
            "Thanks!",
            "Great, thanks.",
            "Thank you very much!",
            "thanks a lot",
            "That was helpful.",
            "thx",
            "Many thanks!",
        ],
        ["You are welcome!", "You are welcome! Is there anything else?"],
    ),
    (
        "praise",
        [
            "Well done!",
            "Good job!",
            "That was great!",
            "I like it!",
            "Nice!",
            "Cool!",
            "Wow!",
            "Very good!",
            "That is funny.",
            "Haha",
        ],
        ["Thank you! Would you like another one?"],
    ),
    (
        "bye",
        ["Goodbye!", "Bye!", "See you later.", "Good night!", "See you!", "I have to go.", "Bye bye"],
        ["Goodbye, and have a good day!"],
    ),
    (
        "blame",
        [
            "You are stupid.",
            "That is wrong.",
            "That was bad.",
            "I don't like it.",
            "You are wrong.",
            "That makes no sense.",
            "Nonsense!",
            "This is terrible.",
            "You are useless.",
            "No, that's wrong.",
        ],
        ["I am sorry. I am a very small model and make mistakes. Please ask me in another way."],
    ),
    (
        "sad",
        [
            "I am sad.",
            "I feel sad today.",
            "I feel lonely.",
            "I had a bad day.",
            "I am tired.",
            "I am angry.",
            "I am afraid.",
            "I am unhappy.",
        ],
        ["I am sorry to hear that. Would a short story or a joke help?"],
    ),
    (
        "glad",
        [
            "I am happy.",
            "I feel great!",
            "I had a good day.",
            "I am in a good mood.",
            "Today is my birthday!",
            "I passed my exam!",
        ],
        ["How nice! I am glad to hear that."],
    ),
    (
        "bored",
        [
            "I am bored.",
            "I'm so bored.",
            "I have nothing to do.",
            "Entertain me.",
            "What should I do?",
            "I need a break.",
        ],
        ["Shall I tell you a story? Name an animal and a thing, for example an owl and a lantern."],
    ),
    (
        "yes",
        ["Yes.", "Yes, please.", "OK", "Okay.", "Sure.", "yes", "ok", "Go on.", "Continue."],
        ["Good! Ask me for a story, a poem, a list or a sum."],
    ),
    (
        "no",
        ["No.", "No, thanks.", "no", "Nothing.", "Never mind.", "Not now."],
        ["All right! I am here if you need me."],
    ),
    (
        "test",
        [
            "test",
            "Test.",
            "testing",
            "Is this working?",
            "Are you there?",
            "Hello?",
            "Can you hear me?",
            "1 2 3",
            "Does it work?",
        ],
        ["Yes, I am here! Ask me for a story, a poem or a sum."],
    ),
]
SCRIPTS = [
    "你好吗",
    "今天天气怎么样",
    "Привет, как дела?",
    "Что ты умеешь?",
    "こんにちは",
    "元気ですか",
    "안녕하세요",
    "مرحبا كيف حالك",
    "Γειά σου",
    "你是谁",
    "Расскажи историю",
    "ありがとう",
    "कैसे हो",
    "Wie geht es dir?",
    "Erzähl mir eine Geschichte.",
    "Was kannst du?",
    "Bonjour, comment ça va ?",
    "Raconte-moi une histoire.",
    "¿Cómo estás?",
    "Cuéntame una historia.",
    "Come stai?",
    "Opowiedz mi bajkę.",
    "Hvordan har du det?",
    "Quem é você?",
]
VERBS = """bake buy sell build repair paint draw clean wash cook fix find open close move carry cut grow plant catch feed train teach learn play
sing win lose hide hunt ride drive fly design invent measure count compare choose rent print copy delete install update check test change make
break burn dry freeze melt cool heat store send order book plan write read review explain solve prove calculate analyse summarise""".split()
COUNTRIES = """Mongolia Nigeria Ghana Bolivia Ecuador Uruguay Panama Nepal Pakistan Bangladesh Malaysia Singapore Estonia Latvia Lithuania Romania
Bulgaria Serbia Croatia Slovenia Slovakia Albania Malta Cyprus Israel Jordan Iraq Iran Qatar Morocco Algeria Tunisia Libya Sudan Ethiopia Uganda
Tanzania Zambia Angola Namibia Texas Bavaria Africa Europe""".split()
WH = "Why When Where How What Who Which".split()
WHO = [
    "I",
    "you",
    "we",
    "they",
    "people",
    "my boss",
    "my friend",
    "the teacher",
    "everybody",
    "scientists",
    "a child",
    "my sister",
    "the company",
]
WHEN = [
    "",
    "",
    "",
    " today",
    " tomorrow",
    " in 2018",
    " in 1969",
    " last year",
    " next week",
    " in the morning",
    " at home",
    " in Europe",
]
MOST = ["best", "biggest", "oldest", "fastest", "smallest", "most expensive", "most popular", "worst", "newest"]
OFFERS = [
    "I can tell you a short story or work out a sum.",
    "I can write you a poem or a short list.",
    "Ask me for a story, or how MTP works.",
]


def small_talk(draw):
    name, asks, says = draw.choices(SMALL, [4, 2, 2, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1])[0]
    asks = asks if draw.measure else asks[:-1]
    return Turn(draw.choice(asks), draw.skew(says), "I am friendly and brief.", {"family": "talk", "kind": name})


def no(draw, ask, reason, think, **about):
    return Turn(ask, f"{reason} {draw.skew(OFFERS)}", think, {"family": "decline", **about})


def unknown_topic(draw):
    """A question of some form about some word that the model knows nothing about."""
    form = draw.choices(["one", "two", "of", "person", "made up", "task", "deed"], [6, 2, 2, 2, 1, 3, 3])[0]
    noun = draw.choice(COMMON)
    x = {
        "two": lambda: f"{noun} {draw.choice(COMMON)}",
        "of": lambda: f"the {noun} of {draw.choice(draw.choice([COMMON, list(CAPITALS), CITIES]))}",
        "person": lambda: f"{draw.choice(GIVEN)} {draw.choice([noun, made_up(draw)]).capitalize()}",
        "made up": lambda: made_up(draw),
        "deed": lambda: f"{draw.choice(VERBS)} {draw.choice([article(noun), 'my ' + noun, 'the ' + noun, noun])}",
    }.get(form, lambda: noun)()
    family = {
        "person": "decline person",
        "task": "decline task",
        "deed": "decline deed",
        "of": draw.choice(["decline person", "decline topic"]),
    }.get(form, "decline topic")
    reason = (
        f"Sorry, {x} is too much for a tiny model like me."
        if form == "task"
        else f"Sorry, I do not know how to {x}."
        if form == "deed"
        else draw.skew([f"Sorry, I am too small to help with {x}.", f"I am a tiny model and know nothing about {x}."])
    )
    return no(
        draw,
        draw.phrase(family, x=x),
        reason,
        f"The user asks about {x}. I do not know that, so I say so."
        if form != "deed"
        else f"The user wants to {x}. I do not know how, so I say so.",
        topic=x,
    )


def any_question(draw):
    """A question of a form that nobody has foreseen: what is asked about is not named in the answer."""

    def noun():
        return draw.choice(
            [
                lambda: draw.choice(COMMON),
                lambda: article(draw.choice(COMMON)),
                lambda: "the " + draw.choice(COMMON),
                lambda: "my " + draw.choice(COMMON),
                lambda: draw.choice(COMMON) + "s",
                lambda: draw.choice(GIVEN),
                lambda: draw.choice(CITIES),
                lambda: made_up(draw),
            ]
        )()

    who, verb, when = draw.choice(WHO), draw.choice(VERBS), draw.choice(WHEN)
    ask = draw.choice(
        [
            lambda: (
                f"{draw.choice(WH)} {draw.choice(['do', 'did', 'should', 'would', 'can', 'will'])} {who} {verb} {noun()}{when}?"
            ),
            lambda: f"Who {draw.choice(['won', 'wrote', 'made', 'invented', 'found', 'owns', 'has'])} {noun()}{when}?",
            lambda: f"What is the difference between {noun()} and {noun()}?",
            lambda: f"What would happen if {who} {verb} {noun()}?",
            lambda: f"Is {noun()} better than {noun()}?",
            lambda: f"Is it true that {noun()} {draw.choice(['is', 'has', 'needs'])} {noun()}?",
            lambda: f"How many {draw.choice(COMMON)}s are in {noun()}?",
            lambda: f"Which {draw.choice(COMMON)} is the {draw.choice(MOST)}?",
            lambda: f"{draw.choice(['Please ', 'Can you ', ''])}{verb} {noun()} with {noun()}{when}.",
            lambda: f"When was {noun()} {draw.choice(['born', 'built', 'found', 'made'])}?",
            lambda: f"What do {draw.choice(COMMON)}s {verb}?",
            lambda: f"{draw.choice(['Give me', 'I need', 'Find', 'Show me'])} {noun()} for {noun()}{when}.",
            lambda: f"How {draw.choice(['old', 'big', 'far', 'long', 'tall', 'fast', 'heavy'])} is {noun()}?",
        ]
    )()
    return no(
        draw,
        ask,
        draw.skew(["Sorry, I am too small to know that.", "I am a tiny model and do not know that."]),
        "I do not know that, so I say so.",
    )


def unknown_in_frame(draw):
    """A question of a form that the model knows, about something that it does not know."""
    word = draw.choice([w for w in draw.sample(COMMON, 20) if w not in facts.OPPOSITES and w not in facts.TRANSLATIONS])
    form = draw.choice(["capital", "translate", "language", "opposite", "sound", "list", "table", "code", "haiku"])
    if form == "capital":
        x = draw.choice([draw.choice(COUNTRIES), made_up(draw).capitalize()])
        return no(
            draw,
            draw.phrase("capital", x=x),
            f"Sorry, I do not know the capital of {x}.",
            f"I do not know {x}.",
            topic=x,
        )
    if form in ("translate", "language"):
        language = (
            draw.choice(facts.LANGUAGES)
            if form == "translate"
            else draw.choice("Polish Dutch Chinese Japanese Greek Latin Arabic Welsh".split())
        )
        x = word if form == "translate" else draw.choice([word, *facts.TRANSLATIONS])
        return no(
            draw,
            draw.phrase("translate", x=x, language=language),
            f'Sorry, I do not know "{x}" in {language}.',
            f"I do not know {x} in {language}.",
            topic=x,
        )
    if form == "opposite":
        return no(
            draw,
            draw.phrase("opposite", x=word),
            f"Sorry, I do not know the opposite of {word}.",
            f"I know no opposite of {word}.",
            topic=word,
        )
    if form == "sound":
        x = article(draw.choice([word, made_up(draw)]))
        return no(
            draw,
            draw.phrase("sound", x=x),
            f"Sorry, I do not know the sound of {x}.",
            f"I do not know what {x} sounds like.",
            topic=x,
        )
    if form == "list":
        n, x = (
            draw.choice(["two", "three", "five", "some", "3", "ten"]),
            draw.choice(
                [
                    word + "s",
                    f"things for {article(word)}",
                    f"ideas for my {word}",
                    f"{draw.choice(COMMON)} {word}s",
                    f"things I need for the {word}",
                ]
            ),
        )
        return no(
            draw,
            draw.phrase("some", n=n, x=x),
            f"Sorry, I know no list of {x}.",
            f"I have learned no list of {x}.",
            topic=x,
        )
    if form == "table":
        x = f"{word}s and their {draw.choice(COMMON)}s" if draw.chance(0.6) else word + "s"
        return no(
            draw,
            draw.phrase("table", x=x),
            f"Sorry, I know no table of {x}.",
            f"I have learned no table of {x}.",
            topic=x,
        )
    if form == "code":
        ask = draw.phrase("function any", what=f"{draw.choice(VERBS)}s {article(word)}")
        return no(
            draw, ask, "Sorry, I know only a few simple functions, and not this one.", "I do not know this function."
        )
    return no(
        draw,
        draw.phrase("haiku", x=article(word)),
        f"Sorry, I know no haiku about {article(word)}.",
        f"I know no haiku about {word}.",
        topic=word,
    )


def statement(draw):
    """Something that is no question at all."""
    thing, other = draw.choice(COMMON), draw.choice(COMMON)
    ask = draw.choice(
        [
            f"My {thing} is {other}.",
            f"I have a {thing} and a {other}.",
            f"Yesterday I saw {article(thing)}.",
            f"I like {thing}s.",
            f"I think that {thing} is {other}.",
            f"{draw.choice(GIVEN)} has a new {thing}.",
            f"There is {article(thing)} in my {other}.",
            f"Today we {draw.choice(VERBS)} the {thing}.",
            f"I hate {thing}.",
            f"We went to the {thing} in {draw.choice(CITIES)}.",
        ]
    )
    return no(
        draw, ask, "That sounds interesting!", "The user tells me something. I am friendly and say what I can do."
    )


def too_hard(draw):
    form = draw.choice(["big sum", "place", "long", "now"])
    if form == "big sum":
        a, b = draw.randint(100, 9999), draw.randint(2, 9999)
        if draw.chance(0.3):
            a, b = draw.randint(11, 99), draw.randint(11, 99)
            ask, what = draw.phrase("times", a=a, b=b), f"{a} × {b}"
        elif draw.chance(0.3):
            ask, what = draw.phrase("divide", a=a, b=b), f"{a} / {b}"
        else:
            sign = draw.choice(["plus", "minus"])
            ask, what = draw.phrase(sign, a=a, b=b), f"{a} {'+' if sign == 'plus' else '-'} {b}"
        return no(
            draw,
            ask,
            f"{what} is too hard for me: I add and subtract numbers up to 99.",
            f"{what} is too hard for me.",
            topic=what,
        )
    if form == "place":
        x = draw.choice(CITIES) if draw.chance(0.8) else made_up(draw).capitalize()
        return no(
            draw,
            draw.phrase("decline place", x=x),
            f"Sorry, I cannot look anything up about {x}.",
            f"I know nothing about {x}.",
            topic=x,
        )
    return no(
        draw, draw.phrase("decline " + form), "Sorry, that is too much for a tiny model like me.", "I cannot do that."
    )


def salad(draw):
    form = draw.choice(["words", "letters", "script", "marks"])
    if form == "script":
        return no(draw, draw.choice(SCRIPTS), "Sorry, I understand English only.", "This is not English.")
    text = {
        "words": lambda: " ".join(draw.choice(COMMON) for _ in range(draw.choice([2, 3, 4, 5, 6, 12, 20]))),
        "letters": lambda: "".join(draw.choice("asdfghjklqwertyuiopzxcvbnm") for _ in range(draw.randint(3, 12))),
        "marks": lambda: draw.choice([".", "?", "??", "!!!", "...", "???", ":)", "-", "😀", "👍", "🦊?", "❤️"]),
    }[form]()
    return no(draw, text, "I did not understand that.", "This makes no sense to me.")


def decline(draw):
    return draw.choices(
        [unknown_topic, any_question, unknown_in_frame, too_hard, salad, statement], [6, 5, 4, 3, 2, 1]
    )[0](draw)
