"""Trains the tokenizer: byte-level BPE with Qwen's split, on the corpus and on common words.

python tokenizer.py            writes tokenizer.json
"""

import random
import re
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from chats import chat
from render import END, MASK, PAD, START, TAGS, render
from words import COMMON, COPY_ONLY, made_up

PATH = Path(__file__).with_name("tokenizer.json")
VOCABULARY = 2048
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def texts(chats):
    """Chats without their tags, and words each as often as the next, so that new ones fall into few pieces."""
    rng = random.Random(3)
    tags = re.compile("|".join(map(re.escape, [START, END, *TAGS])))
    for index in range(chats):
        drawn = chat("tokenizer", index, "long")
        # The constant text of tool prompts would take more merges than it is worth.
        if drawn.family != "tools" or index % 4 == 0:
            yield [piece for piece in tags.split(render(drawn)) if piece.strip()]
    for _ in range(3):
        yield [" ".join(COMMON + COPY_ONLY)]
    yield [" ".join(made_up(rng) for _ in range(4000))]


def train(chats=30000):
    added = [PAD, START, END, MASK, *TAGS]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        texts(chats),
        trainers.BpeTrainer(
            vocab_size=VOCABULARY - len(added),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    tokenizer.add_special_tokens([PAD, START, END, MASK])
    tokenizer.add_tokens([AddedToken(tag, normalized=False, special=False) for tag in TAGS])
    assert tokenizer.get_vocab_size() == VOCABULARY
    return tokenizer


def load():
    return Tokenizer.from_file(str(PATH))


if __name__ == "__main__":
    train().save(str(PATH))
