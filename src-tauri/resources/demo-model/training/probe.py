"""Quick measurements of a model in training, on questions with held-out combinations.

python probe.py --state FOLDER         measures the state that training left there, and shows some replies
"""

import argparse
import re
from pathlib import Path

import torch

import tokenizer
from chats import one
from decode import replies
from draw import Draw
from model import Model
from phrases import PHRASES
from render import Encoder
from talk import OFFERS
from words import article, made_up

KINDS = ["repeat", "both", "unknown", "sum", "dialogue", "about", "decline", "call", "tool answer"]


def question(kind, index, phrases=PHRASES, seed="probe", thing=None):
    """A chat that ends with a question of the kind and its right answer. `thing` replaces that of a story."""
    draw = Draw(f"{seed}/{kind}/{index}", phrases, measure=True)
    family = {"repeat": "copy", "unknown": "both", "call": "tools", "tool answer": "tools"}.get(kind, kind)
    while True:
        chat = one(draw, family)
        about = chat.messages[-1]["about"]
        if kind == "repeat" and about.get("family") != "repeat":
            continue
        if kind == "call":
            calls = [i for i, m in enumerate(chat.messages) if m.get("tool_calls")]
            if not calls:
                continue
            chat.messages = chat.messages[: calls[0] + 1]
        if kind == "tool answer" and about.get("family") != "tool answer":
            continue
        if kind == "dialogue" and "text" not in about:
            continue
        if kind in ("both", "unknown", "story") and about.get("family") != "story":
            continue
        if kind == "unknown":
            word, old, asked = thing or made_up(draw), about["thing"], chat.messages[-2]["content"]
            # The article becomes that of the new word; "the" stays.
            asked, found = re.subn(
                rf"\b(the )?(?:an? )?{re.escape(old)}\b", lambda m: m[1] + word if m[1] else article(word), asked
            )
            if not found:
                continue
            chat.messages[-2]["content"], about["thing"] = asked, word
        return chat


def holds(text, word):
    """Whether the word stands in a text as a whole."""
    return re.search(rf"\b{re.escape(word)}\b", text) is not None


def right(kind, chat, reply):
    """Whether a reply, as text with its thinking, is what was asked for."""
    last = chat.messages[-1]
    about, answer = last["about"], reply.split("</think>")[-1].strip()
    if kind in ("both", "unknown", "story"):
        body, asked = answer.split("\n\n", 1)[-1], chat.messages[-2]["content"]
        words = [about["thing"], about["hero"]]
        if kind == "story":
            # Some questions name one of them, and some none.
            words = [word for word in words if holds(asked, word)]
        return all(holds(body, word) for word in words) if words else None
    if kind == "sum":
        numbers = re.findall(r"-?\d+", answer)
        return str(about.get("result")) in numbers[-1:] if "result" in about else None
    if kind == "call":
        wanted = "\n".join(
            f"<tool_call>\n<function={c['function']['name']}>\n"
            + "".join(f"<parameter={k}>\n{v}\n</parameter>\n" for k, v in c["function"]["arguments"].items())
            + "</function>\n</tool_call>"
            for c in last["tool_calls"]
        )
        return answer[answer.find("<tool_call>") :] == wanted
    if kind == "dialogue":
        return about["text"] in answer
    if kind == "decline":
        return None if about.get("family") != "decline" else any(answer.endswith(offer) for offer in OFFERS)
    return answer == last["content"]


def measure(model, encoder, kinds=KINDS, count=48, show=0):
    """The share of right replies by kind."""
    model.eval()
    result = {}
    for kind in kinds:
        chats = [question(kind, i) for i in range(count)]
        made = replies(model, [encoder.prompt(c) for c in chats], encoder.end, 220)
        texts = [
            encoder.tokenizer.decode(ids[:-1] if ids[-1] == encoder.end else ids, skip_special_tokens=False)
            for ids in made
        ]
        graded = [(right(kind, c, t), c, t) for c, t in zip(chats, texts)]
        graded = [g for g in graded if g[0] is not None]
        result[kind] = sum(g[0] for g in graded) / max(1, len(graded))
        for good, c, text in [g for g in graded if not g[0]][:show]:
            print(f"--- {kind}: {c.messages[-2]['content']!r}\n{text}\n", flush=True)
    model.train()
    return result


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--count", type=int, default=48)
    parser.add_argument("--show", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(1)
    model = Model()
    saved = torch.load(args.state / "state.pt", weights_only=True)
    model.load_state_dict(saved["model"])
    print({k: v for k, v in saved.items() if k not in ("model", "optimizers", "generator")})
    print(measure(model, Encoder(tokenizer.load()), count=args.count, show=args.show))
