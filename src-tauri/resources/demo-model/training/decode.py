"""Replies of the model to many prompts at once."""

import torch


def read(model, prompts, room):
    """Reads prompts, lists of ids, one by one; returns their last hidden states and one cache with room for more."""
    length = max(map(len, prompts)) + room
    started = [model.start(torch.tensor([prompt]), length) for prompt in prompts]
    cache = [[torch.cat(parts) for parts in zip(*layers)] for layers in zip(*(cache for _, cache in started))]
    return torch.cat([hidden[:, -1] for hidden, _ in started]), cache


def choose(logits, temperature, top_p, generator):
    """The next token of each row: the most likely one at temperature 0, else one drawn from the nucleus."""
    if temperature == 0:
        return logits.argmax(-1)
    chances, order = (logits / temperature).softmax(-1).sort(-1, descending=True)
    chances = chances.masked_fill(chances.cumsum(-1) - chances >= top_p, 0)
    return order.gather(-1, torch.multinomial(chances, 1, generator=generator)).squeeze(-1)


@torch.no_grad()
def replies(model, prompts, end, limit, temperature=0.0, top_p=0.9, seed=0, rows=64):
    """The ids of a reply to each prompt, its end included if it came within `limit` tokens."""
    if len(prompts) > rows:
        # Prompts of like length go together; the answers keep the order of the questions.
        order = sorted(range(len(prompts)), key=lambda i: len(prompts[i]))
        parts = [order[i : i + rows] for i in range(0, len(order), rows)]
        answers = {}
        for number, part in enumerate(parts):
            made = replies(model, [prompts[i] for i in part], end, limit, temperature, top_p, seed + number, rows)
            answers.update(zip(part, made))
        return [answers[i] for i in range(len(prompts))]
    generator = torch.Generator().manual_seed(seed)
    hidden, cache = read(model, prompts, limit)
    position = torch.tensor([len(prompt) for prompt in prompts])
    open_rows, out = list(range(len(prompts))), [[] for _ in prompts]
    for _ in range(limit):
        ids = choose(model.logits(hidden), temperature, top_p, generator)
        for row, token in zip(open_rows, ids.tolist()):
            out[row].append(token)
        going = ids != end
        if not going.any():
            break
        if not going.all():
            ids, position = ids[going], position[going]
            cache = [[part[going] for part in layer] for layer in cache]
            open_rows = [row for row, more in zip(open_rows, going.tolist()) if more]
        hidden = model.step(ids, cache, position)
        position = position + 1
    return out
