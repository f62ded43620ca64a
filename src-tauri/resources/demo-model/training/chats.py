"""Whole chats, each a pure function of a seed and an index."""

from dataclasses import dataclass, field

import about
import copying
import dialogue
import facts
import poems
import programs
import shapes
import stories
import sums
import talk
import tools
from draw import Draw
from phrases import PHRASES

SYSTEM = [
    "You are a helpful assistant.",
    "You are a friendly assistant.",
    "Answer briefly.",
    "You are a helpful assistant. Keep your answers short.",
    "You are Foretoken's demo model.",
    "Be friendly.",
    "Answer in English.",
    "You are an assistant in a chat app.",
    "Help the user.",
]
PLAIN = {
    "copy": copying.copying,
    "story": stories.story,
    "both": stories.both,
    "sum": sums.sum_or_difference,
    "drill": sums.drill,
    "about": about.about,
    "fact": facts.fact,
    "list": shapes.listed,
    "table": shapes.table,
    "code": programs.program,
    "poem": poems.poem,
    "translation": facts.translation,
    "talk": talk.small_talk,
    "joke": poems.joke,
    "decline": talk.decline,
}

# Weights of the families by stage; a weight is a share of chats, not of tokens.
MIXES = {
    "copy": {"copy": 60, "both": 16, "sum": 14, "drill": 10},
    "mix": {
        "copy": 14,
        "story": 20,
        "sum": 20,
        "drill": 12,
        "about": 11,
        "fact": 8,
        "list": 5,
        "table": 2,
        "code": 3,
        "poem": 5,
        "translation": 4,
        "talk": 3,
        "joke": 1,
        "decline": 8,
        "dialogue": 9,
    },
    "long": {
        "copy": 8,
        "story": 17,
        "sum": 18,
        "drill": 2,
        "about": 11,
        "fact": 8,
        "list": 5,
        "table": 2,
        "code": 3,
        "poem": 5,
        "translation": 4,
        "talk": 3,
        "joke": 1,
        "decline": 8,
        "dialogue": 12,
        "tools": 20,
    },
    "tools": {
        "copy": 8,
        "story": 12,
        "both": 3,
        "sum": 12,
        "about": 10,
        "fact": 7,
        "list": 4,
        "table": 2,
        "code": 3,
        "poem": 4,
        "translation": 3,
        "talk": 4,
        "joke": 1,
        "decline": 10,
        "dialogue": 10,
        "tools": 36,
    },
    "forms": {
        "copy": 6,
        "story": 10,
        "both": 6,
        "sum": 20,
        "drill": 2,
        "about": 10,
        "fact": 6,
        "list": 4,
        "table": 2,
        "code": 3,
        "poem": 4,
        "translation": 3,
        "talk": 4,
        "joke": 1,
        "decline": 11,
        "dialogue": 9,
        "tools": 28,
    },
    "copies": {
        "copy": 12,
        "story": 10,
        "both": 10,
        "sum": 20,
        "drill": 2,
        "about": 10,
        "fact": 5,
        "list": 3,
        "table": 2,
        "code": 3,
        "poem": 3,
        "translation": 3,
        "talk": 3,
        "joke": 1,
        "decline": 9,
        "dialogue": 12,
        "tools": 30,
    },
    "calls": {
        "copy": 9,
        "story": 5,
        "both": 9,
        "sum": 15,
        "drill": 1,
        "about": 11,
        "fact": 4,
        "list": 3,
        "table": 2,
        "code": 2,
        "poem": 2,
        "translation": 2,
        "talk": 3,
        "joke": 1,
        "decline": 7,
        "dialogue": 10,
        "tools": 55,
    },
    "names": {
        "copy": 24,
        "story": 5,
        "both": 8,
        "sum": 13,
        "drill": 1,
        "about": 12,
        "fact": 6,
        "list": 3,
        "table": 2,
        "code": 2,
        "poem": 2,
        "translation": 2,
        "talk": 3,
        "joke": 1,
        "decline": 8,
        "dialogue": 12,
        "tools": 45,
    },
    "settle": {
        "copy": 14,
        "story": 5,
        "both": 9,
        "sum": 32,
        "drill": 2,
        "about": 14,
        "fact": 8,
        "list": 3,
        "table": 2,
        "code": 2,
        "poem": 2,
        "translation": 3,
        "talk": 3,
        "joke": 1,
        "decline": 8,
        "dialogue": 12,
        "tools": 36,
    },
}


@dataclass
class Chat:
    """Messages as a chat template takes them, the tools on offer, and whether the last answer thinks first."""

    messages: list
    family: str
    thinking: bool
    tools: list = field(default_factory=list)


def typed(draw, text):
    """The question as somebody in a hurry types it."""
    form = draw.choices(["as it is", "lower", "bare", "both"], [70, 10, 10, 10])[0]
    if form in ("bare", "both") and len(text) > 3 and text[-1] in ".?!":
        text = text[:-1]
    return text[0].lower() + text[1:] if form in ("lower", "both") and not text[:2].isupper() else text


def chat(seed, index, mix, phrases=PHRASES, measure=False):
    """The chat of an index: always the same one for the same seed and mix."""
    draw = Draw(f"{seed}/{mix}/{index}", phrases, measure)
    weights = MIXES[mix]
    family = draw.choices(list(weights), list(weights.values()))[0]
    return one(draw, family)


def one(draw, family):
    """A chat that begins with a question of the family."""
    thinking = draw.chance(0.4)
    messages = [{"role": "system", "content": draw.choice(SYSTEM)}] if draw.chance(0.15) else []
    if family == "tools":
        offered, more = tools.rounds(draw, thinking)
        return Chat(messages + more, family, thinking, offered)
    turns = dialogue.dialogue(draw) if family == "dialogue" else [PLAIN[family](draw)]
    # Some chats go on with something else.
    while family not in ("dialogue", "copy") and len(turns) < 3 and draw.chance(0.18):
        turns.append(dialogue.anything(draw))
    for turn in turns:
        ask = (
            turn.ask
            if turn.about.get("family") in ("repeat", "pick", "look up", "find", "spell", "reverse", "drill") or draw.measure
            else typed(draw, turn.ask)
        )
        last = turn is turns[-1]
        say = turn.about.get("after", turn.say) if last and thinking else turn.say
        messages += [
            {"role": "user", "content": ask},
            {
                "role": "assistant",
                "content": say,
                "reasoning_content": turn.think if last and thinking else "",
                "about": turn.about,
            },
        ]
    return Chat(messages, family, thinking)
