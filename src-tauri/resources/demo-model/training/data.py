"""Batches of whole chats, one a row, each batch a function of seed, stage and number."""

import random

import torch

from chats import chat

POOL = 512


class Batches:
    """The batches of one stage. They go on for ever; `state` says where, and a new one begun with it goes on there.

    Chats are drawn in pools, sorted by length and cut into batches of about `tokens` tokens, padding included.
    """

    def __init__(self, encoder, seed, mix, tokens, longest, state=(0, 0)):
        self.encoder, self.seed, self.mix, self.tokens, self.longest = encoder, seed, mix, tokens, longest
        self.pool, self.number = state
        self.batches = None

    @property
    def state(self):
        return self.pool, self.number

    def fill(self):
        rows = (self.encoder.rows(chat(self.seed, self.pool * POOL + i, self.mix)) for i in range(POOL))
        rows = sorted((row for row in rows if len(row[0]) <= self.longest), key=lambda row: len(row[0]))
        self.batches, batch = [], []
        for row in rows:
            # The row that comes is the longest: all are padded to its length.
            if batch and (len(batch) + 1) * len(row[0]) > self.tokens:
                self.batches.append(batch)
                batch = []
            batch.append(row)
        self.batches.append(batch)
        random.Random(f"{self.seed}/{self.mix}/{self.pool}").shuffle(self.batches)

    def __next__(self):
        """ids int64 [B, T] and the weight of each as something to predict, f32 [B, T]; padded on the right."""
        if self.batches is None:
            self.fill()
        while self.number >= len(self.batches):
            self.pool, self.number = self.pool + 1, 0
            self.fill()
        batch = self.batches[self.number]
        self.number += 1
        length = max(len(ids) for ids, _ in batch)
        ids = torch.full((len(batch), length), self.encoder.pad)
        wanted = torch.zeros(len(batch), length)
        for row, (tokens, weights) in enumerate(batch):
            ids[row, : len(tokens)] = torch.tensor(tokens)
            wanted[row, : len(weights)] = torch.tensor(weights, dtype=torch.float)
        return ids, wanted
