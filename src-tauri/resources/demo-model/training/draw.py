"""Seeded choices of the grammar, and the line between what is trained on and what is held out."""

import hashlib
import random
from dataclasses import dataclass, field

from words import KNOWN

OPENINGS = ["Hi!", "Hello!", "Hey,", "OK,", "Please:", "Now,", "So,", "Next:", "A question:", "One more thing:"]

@dataclass
class Turn:
    """A question and its answer. `about` says what a checker or a follow-up question needs to know."""

    ask: str
    say: str
    think: str
    about: dict = field(default_factory=dict)


def held_out(*parts):
    """Whether a combination, such as an animal and a thing, is kept for questions that measure: one of five is."""
    return hashlib.sha256("|".join(map(str, parts)).encode()).digest()[0] % 5 == 0


def tied(word, count, salt=""):
    """A number below `count` that belongs to a word, so that an owl is usually called the same. Made-up words have 0."""
    return hashlib.sha256((word + salt).encode()).digest()[1] % count if word in KNOWN else 0


class Draw(random.Random):
    """All choices of one chat. `phrases` are the forms of questions; `measure` asks for held-out combinations."""

    def __init__(self, seed, phrases, measure=False):
        super().__init__(seed)
        self.phrases, self.measure = phrases, measure

    def chance(self, share):
        return self.random() < share

    def skew(self, options, first=0):
        """An option, the one at `first` twice as often as the next, and so on around, four at most."""
        options = [options[(first + i) % len(options)] for i in range(min(4, len(options)))]
        return self.choices(options, [8, 4, 2, 1][: len(options)])[0]

    def phrase(self, family, **parts):
        """A question of the family with its parts filled in."""
        return self.varied(self.choice(self.phrases[family])).format(**parts)

    def varied(self, form):
        """A form as people write it in training: sometimes with a word before it or with two letters swapped."""
        how = "as it is" if self.measure else self.choices(["as it is", "opened", "mistyped"], [80, 10, 10])[0]
        if how == "opened":
            return f"{self.choice(OPENINGS)} {form}"
        words = form.split(" ")
        long = [i for i, word in enumerate(words) if len(word) > 3 and word.isalpha()]
        if how == "mistyped" and long:
            i = self.choice(long)
            at = self.randrange(len(words[i]) - 1)
            words[i] = words[i][:at] + words[i][at + 1] + words[i][at] + words[i][at + 2 :]
        return " ".join(words)

    def allowed(self, *parts):
        """Whether a combination may be drawn here."""
        return held_out(*parts) == self.measure

    def until(self, make, *family):
        """Draws with `make`, which returns a tuple, until the tuple may be drawn here."""
        while True:
            parts = make()
            if self.allowed(*family, *parts):
                return parts
