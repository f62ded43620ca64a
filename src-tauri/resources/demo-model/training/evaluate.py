"""Measures a model on held-out questions: forms, combinations and words that training never saw.

    python evaluate.py --state FOLDER --count 500 --seed development
    python evaluate.py --state FOLDER --drafts              # what is accepted of the drafts of MTP head and drafter

Shares come with their Wilson interval at 95 %. The test set is another seed, and is looked at seldom.
"""

import argparse
import math
import random
from pathlib import Path

import torch

import dflash
import heldout
import mtp
import probe
import selfgen
import tokenizer
from chats import Chat, one
from decode import replies
from draw import Draw
from phrases import PHRASES
from render import MASK, Encoder

FRAMES = [
    "story",
    "both",
    "noun",
    "made up",
    "sum",
    "call",
    "call, known form",
    "tool answer",
    "dialogue",
    "about",
    "fact",
    "list",
    "translation",
    "decline",
]
# What is done to a question about a story to see whether it is understood, and not only recognised.
CHANGES = ["as it is", "lower case", "no punctuation", "a typo", "a turn before", "a system prompt"]


def wilson(right, count):
    """The share and its interval, as text."""
    if not count:
        return "none"
    p, z = right / count, 1.96
    middle, half = p + z * z / (2 * count), z * math.sqrt(p * (1 - p) / count + z * z / (4 * count * count))
    low, high = ((middle + sign * half) / (1 + z * z / count) for sign in (-1, 1))
    return f"{p:.3f} ({low:.3f} to {high:.3f}, n = {count})"


def question(kind, index, seed):
    if kind in ("noun", "made up"):
        words = heldout.NOUNS if kind == "noun" else heldout.MADE_UP
        return "unknown", probe.question("unknown", index, heldout.PHRASES, f"{seed}/{kind}", words[index % len(words)])
    if kind == "call, known form":
        # Arguments that training never had, in a form that it had.
        return "call", probe.question("call", index, PHRASES, seed)
    return kind, probe.question(kind, index, heldout.PHRASES, seed)


def typo(rng, text):
    """Two letters of a longer word that is not a name or a thing change places."""
    words = text.split()
    places = [
        i
        for i, word in enumerate(words)
        if word.lower() in ("story", "about", "write", "please", "which", "could", "something", "meets")
    ]
    if places:
        i, word = places[0], words[places[0]]
        at = rng.randrange(1, len(word) - 2)
        words[i] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return " ".join(words)


def changed(chat, change, rng):
    """A one-turn chat with its question changed."""
    ask, answer = [dict(m) for m in chat.messages[-2:]]
    before = []
    if change == "lower case":
        ask["content"] = ask["content"].lower()
    elif change == "no punctuation":
        ask["content"] = ask["content"].rstrip(".?!").replace(",", "")
    elif change == "a typo":
        ask["content"] = typo(rng, ask["content"])
    elif change == "a turn before":
        before = [
            {"role": "user", "content": "What is the capital of France?"},
            {"role": "assistant", "content": "The capital of France is **Paris**.", "about": {}},
        ]
    elif change == "a system prompt":
        before = [{"role": "system", "content": "You are a patient assistant for children. Be polite."}]
    return Chat([*before, ask, answer], chat.family, chat.thinking)


def grade(model, encoder, asked, temperature):
    """Whether each reply is right, and whether thinking was closed within 80 tokens where it was on."""
    made = replies(model, [encoder.prompt(chat) for _, chat in asked], encoder.end, 240, temperature, seed=7)
    texts = [
        encoder.tokenizer.decode(ids[:-1] if ids[-1] == encoder.end else ids, skip_special_tokens=False) for ids in made
    ]
    closed = [encoder.thought in ids[:80] for (_, chat), ids in zip(asked, made) if chat.thinking]
    return [(probe.right(kind, chat, text), chat, text) for (kind, chat), text in zip(asked, texts)], closed


TOPICS = ["both", "story", "sum", "about", "fact", "list", "code", "poem", "translation", "decline", "dialogue", "tools"]


def drafts(model, encoder, folder, count, seed, temperature):
    """Prints what is accepted of drafts by topic: by position of three guesses of the MTP head, and per block of the
    drafter. Drafts are the most likely tokens; of drawn replies those are accepted that were drawn."""
    head, drafter = mtp.best(folder), dflash.Drafter().eval()
    model.mtp.load_state_dict(head or model.mtp.state_dict())
    trained, every = dflash.trained(folder), []
    if trained:
        drafter.load_state_dict({name: value.bfloat16().float() for name, value in trained.items()})
    for topic in [*TOPICS, "all"]:
        if topic != "all":
            asked = [one(Draw(f"{seed}/{topic}/{i}", heldout.PHRASES, measure=True), topic) for i in range(count)]
            prompts = [encoder.prompt(chat) for chat in asked]
            made = replies(model, prompts, encoder.end, 240, temperature, seed=7)
            rows = [(torch.tensor(p + r), len(p)) for p, r in zip(prompts, made)]
            every += rows
        else:
            rows = every
        found = " ".join(f"{share:.3f}" for share in mtp.acceptance(model, rows, encoder.pad))
        block = dflash.accepted(model, drafter, rows, encoder.tokenizer.token_to_id(MASK)) if trained else math.nan
        print(f"{topic}: MTP {found}, DFlash {block:.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", default="development")
    parser.add_argument("--temperature", type=float, default=0)
    parser.add_argument("--kinds", nargs="*", default=FRAMES)
    parser.add_argument("--show", type=int, default=1, help="wrong replies shown of each kind")
    parser.add_argument("--drafts", action="store_true", help="measure drafts instead of replies")
    args = parser.parse_args()
    torch.set_num_threads(1)
    model, encoder, thought = selfgen.rounded(args.state), Encoder(tokenizer.load()), []
    if args.drafts:
        drafts(model, encoder, args.state, args.count, args.seed, args.temperature)
        return
    for kind in args.kinds:
        graded, closed = grade(
            model, encoder, [question(kind, i, args.seed) for i in range(args.count)], args.temperature
        )
        thought += closed
        graded = [g for g in graded if g[0] is not None]
        print(f"{kind}: {wilson(sum(g[0] for g in graded), len(graded))}", flush=True)
        for _, chat, text in [g for g in graded if not g[0]][: args.show]:
            print(f"    {chat.messages[-2]['content']!r} → {text!r}")
    print(f"thinking closed within 80 tokens: {wilson(sum(thought), len(thought))}")
    rng = random.Random(args.seed)
    for change in CHANGES if "both" in args.kinds else []:
        asked = [question("both", i, args.seed) for i in range(args.count)]
        graded, _ = grade(
            model, encoder, [(kind, changed(chat, change, rng)) for kind, chat in asked], args.temperature
        )
        print(f"both, {change}: {wilson(sum(bool(g[0]) for g in graded), len(graded))}", flush=True)


if __name__ == "__main__":
    main()
