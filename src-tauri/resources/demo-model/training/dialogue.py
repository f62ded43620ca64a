"""Second questions: about the story, the sum, the list before, and about what was said earlier."""

import about
import copying
import facts
import poems
import programs
import shapes
import stories
import sums
import talk
from draw import Turn
from words import COLOURS, GIVEN, article, definite

KINDS = {
    "colour": COLOURS,
    "animal": "dog cat horse owl fox rabbit lion tiger elephant penguin".split(),
    "fruit": "apple banana cherry pear orange grape lemon strawberry plum mango".split(),
    "sport": "football tennis swimming running cycling hockey".split(),
    "food": "pizza soup cheese bread rice pasta cake".split(),
}
ANY = [
    (stories.story, 4),
    (sums.sum_or_difference, 3),
    (about.about, 3),
    (facts.fact, 3),
    (shapes.listed, 2),
    (poems.poem, 2),
    (facts.translation, 1),
    (talk.small_talk, 1),
    (programs.program, 1),
    (shapes.table, 1),
    (copying.copying, 1),
]


def anything(draw):
    makers, weights = zip(*ANY)
    return draw.choices(makers, weights)[0](draw)


def after_story(draw, said):
    hero, thing, name = said["hero"], said["thing"], said["name"]
    form = draw.choices(
        ["hero", "thing", "shorter", "which hero", "which name", "which thing", "again"], [4, 3, 2, 3, 3, 2, 1]
    )[0]
    if form in ("hero", "thing"):
        new_hero, new_thing = stories.hero_and_thing(draw)
        changed = (new_hero, thing) if form == "hero" else (hero, new_thing)
        if not draw.allowed("story", *changed):
            return after_story(draw, said)
        noun = article(new_hero if form == "hero" else new_thing)
        return stories.make(
            draw,
            draw.phrase("now about", x=noun),
            *changed,
            f"The same again, now about {article(changed[0])} and {article(changed[1])}.",
        )
    if form == "shorter":
        return stories.make(
            draw,
            draw.phrase("shorter"),
            hero,
            thing,
            f"The same story about {article(hero)} and {article(thing)}, but shorter.",
            short=True,
            name=name,
        )
    if form == "which hero":
        text = f"It was about {article(hero)} called **{name}**, and about {article(thing)}."
        return Turn(
            draw.phrase("which hero"),
            text,
            f"The story was about {article(hero)}.",
            {"family": "dialogue", "text": hero},
        )
    if form == "which name":
        return Turn(
            draw.phrase("which name", x=definite(hero)),
            f"{stories.sentence(definite(hero))} was called **{name}**.",
            f"In the story {definite(hero)} was called {name}.",
            {"family": "dialogue", "text": name},
        )
    if form == "which thing":
        return Turn(
            draw.phrase("which thing"),
            f"It was **{article(thing)}**.",
            f"There was {article(thing)} in the story.",
            {"family": "dialogue", "text": thing},
        )
    new = draw.skew([pair for pair in stories.USUAL if pair[0] != hero])
    return stories.make(
        draw, draw.phrase("again"), *new, f"One more story: now about {article(new[0])} and {article(new[1])}."
    )


def after_sum(draw, said):
    result = said["result"]
    if not 0 <= result <= 99 or draw.chance(0.35):
        return Turn(
            draw.phrase("sure"),
            f"Yes: {said['expression']} = **{result}**.",
            f"I said {said['expression']} = {result}.",
            {"family": "dialogue", "text": str(result)},
        )
    more = draw.chance(0.6)
    b = draw.randint(1, 60) if more else draw.randint(0, result)
    if not draw.allowed("+" if more else "-", *sorted((result, b))) or (not more and b > result):
        return after_sum(draw, said)
    return (
        sums.plus(draw, result, b, draw.phrase("add more", b=b))
        if more
        else sums.minus(draw, result, b, draw.phrase("take away", b=b))
    )


def after_list(draw, said):
    where = draw.randrange(min(len(said["items"]), 5))
    item, which = said["items"][where], copying.ORDER[where]
    return Turn(
        draw.phrase("item", which=which, number=where + 1),
        f"The {which} one is **{item}**.",
        f"Number {where + 1} was {item}.",
        {"family": "dialogue", "text": item},
    )


def follow_up(draw, turn):
    """A question that needs the turn before, or None where there is nothing to ask."""
    said = turn.about
    family = said.get("family")
    if family == "story":
        return after_story(draw, said)
    if family == "sum":
        return after_sum(draw, said)
    if family == "list":
        return after_list(draw, said)
    if family == "translation":
        language = draw.choice([x for x in facts.LANGUAGES if x != said["language"]])
        new = facts.translation(draw, said["word"], language)
        new.ask = draw.phrase("and in", language=language)
        return new
    if family == "fact" and "country" in said:
        new = facts.capital(draw)
        while new.about["country"] == said["country"]:
            new = facts.capital(draw)
        new.ask = draw.phrase("and of", x=new.about["country"])
        return new
    if family == "poem" and "thing" in said:
        while True:
            new = poems.poem(draw)
            if new.say.startswith("**A poem about"):
                break
        new.ask = draw.phrase("now about", x=new.about["thing"])
        return new
    if family == "joke":
        new = poems.JOKES[(poems.JOKES.index(turn.say) + 1) % len(poems.JOKES)]
        return Turn(draw.phrase("again"), new, "The user wants one more joke.", {"family": "joke"})
    if family == "riddle":
        return Turn(
            draw.phrase("give up"),
            f"The answer is: **{said['answer']}**",
            "I asked a riddle. Now I say the answer.",
            {"family": "dialogue"},
        )
    return None


def introduction(draw):
    """Somebody says a name or a favourite thing; and what to ask about it later."""
    if draw.chance(0.6):
        name = draw.choice(GIVEN) if draw.chance(0.8) else copying.made_up(draw).capitalize()
        first = Turn(
            draw.phrase("my name", n=name),
            f"Nice to meet you, {name}! What can I do for you?",
            f"The user is called {name}. I greet {name}.",
            {"family": "dialogue"},
        )
        return first, Turn(
            draw.phrase("who am I"),
            f"Your name is **{name}**.",
            f"The user said that the name is {name}.",
            {"family": "dialogue", "text": name},
        )
    kind = draw.choice(list(KINDS))
    x = draw.choice(KINDS[kind])
    first = Turn(
        stories.sentence(draw.phrase("my favourite", kind=kind, x=x)),
        f"I will remember that: {x} is your favourite {kind}.",
        f"The user likes {x}. I keep that in mind.",
        {"family": "dialogue"},
    )
    return first, Turn(
        draw.phrase("which favourite", kind=kind),
        f"Your favourite {kind} is **{x}**.",
        f"The user said that the favourite {kind} is {x}.",
        {"family": "dialogue", "text": x},
    )


def dialogue(draw):
    """Two to five turns."""
    if draw.chance(0.3):
        first, last = introduction(draw)
        between = [anything(draw) for _ in range(draw.choices([0, 1, 2, 3], [3, 4, 2, 1])[0])]
        return [first, *between, last]
    turns, follow = [], None
    while follow is None:
        turns = [
            stories.both(draw)
            if draw.chance(0.35)
            else draw.choice(
                [
                    sums.sum_or_difference,
                    shapes.listed,
                    facts.translation,
                    facts.capital,
                    poems.poem,
                    poems.joke,
                    poems.riddle,
                ]
            )(draw)
        ]
        follow = follow_up(draw, turns[0])
    if (
        draw.chance(0.2)
        and follow.about.get("family") == "dialogue"
        and "text" in follow.about
        and turns[0].about["family"] == "story"
    ):
        turns.append(draw.choice([facts.fact, sums.sum_or_difference])(draw))
    turns.append(follow)
    while len(turns) < 5 and draw.chance(0.3):
        more = follow_up(draw, turns[-1]) if draw.chance(0.5) else draw.choice([talk.small_talk, anything])(draw)
        if more:
            turns.append(more)
    return turns
