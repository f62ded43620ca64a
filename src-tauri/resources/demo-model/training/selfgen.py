"""Lets the trained model answer training questions; its MTP head and its drafter learn from these answers.

    python selfgen.py --state FOLDER --chunks 60 --processes 2

A chunk is 512 prompts of the corpus, the same for the same number, written to FOLDER/replies/NUMBER.safetensors when it
is done; chunks that are there are left. Six of ten answers are greedy, the others drawn at 0.7 with top-p 0.9.
"""

import argparse
import os
from pathlib import Path

import torch
import torch.multiprocessing as processes
from safetensors.torch import load_file, save_file

import tokenizer
from chats import chat
from decode import replies
from model import Model
from render import Encoder

KEPT = Path(__file__).parent / "state"
CHUNK, LIMIT, LONGEST = 512, 240, 512
SEED = "own answers"


def rounded(folder):
    """The model of a training state, or else the one that training has kept, with its weights as they are shipped:
    rounded to bf16."""
    model, path = Model().eval(), folder / "state.pt"
    if path.exists():
        saved = torch.load(path, weights_only=True)["model"]
    else:
        saved = load_file(KEPT / "model.safetensors")
    model.load_state_dict({name: value.bfloat16().float() for name, value in saved.items()})
    return model.requires_grad_(False)


def answer(model, encoder, number):
    """A chunk: ids of prompt and reply one after the other, and where in each row the reply begins and ends."""
    prompts = [encoder.prompt(chat(SEED, number * CHUNK + i, "long")) for i in range(CHUNK)]
    prompts = [prompt for prompt in prompts if len(prompt) < LONGEST - LIMIT]
    greedy = len(prompts) * 6 // 10
    made = replies(model, prompts[:greedy], encoder.end, LIMIT)
    made += replies(model, prompts[greedy:], encoder.end, LIMIT, temperature=0.7, top_p=0.9, seed=1000 * number)
    pairs = [(p, r) for p, r in zip(prompts, made) if r[-1] == encoder.end]
    return {
        "ids": torch.tensor([i for p, r in pairs for i in p + r], dtype=torch.int16),
        "prompts": torch.tensor([len(p) for p, _ in pairs], dtype=torch.int32),
        "lengths": torch.tensor([len(p) + len(r) for p, r in pairs], dtype=torch.int32),
    }


def rows(path):
    """The rows of a chunk: ids, and where the reply begins."""
    chunk, at = load_file(path), 0
    for prompt, length in zip(chunk["prompts"].tolist(), chunk["lengths"].tolist()):
        yield chunk["ids"][at : at + length].long(), prompt
        at += length


def split(folder):
    """Rows that measure, greedy ones of the last chunk, and those to learn from: all of the others."""
    chunks = sorted((folder / "replies").glob("*.safetensors"), key=lambda path: int(path.stem))
    return list(rows(chunks[-1]))[:200], [row for path in chunks[:-1] for row in rows(path)]


def batches(rows, tokens, pad, generator):
    """Rows of like length together, in an order that is drawn: ids [B, T], and where replies begin and rows end."""
    order = sorted(range(len(rows)), key=lambda i: len(rows[i][0]))
    parts, part = [], []
    for i in order:
        if part and (len(part) + 1) * len(rows[i][0]) > tokens:
            parts.append(part)
            part = []
        part.append(i)
    parts.append(part)
    for k in torch.randperm(len(parts), generator=generator).tolist():
        chosen = [rows[i] for i in parts[k]]
        ids = torch.full((len(chosen), max(len(r) for r, _ in chosen)), pad)
        for row, (tokens_of_row, _) in enumerate(chosen):
            ids[row, : len(tokens_of_row)] = tokens_of_row
        yield ids, torch.tensor([begin for _, begin in chosen]), torch.tensor([len(r) for r, _ in chosen])


def work(rank, args):
    """Makes every chunk whose turn it is; a process each takes its own."""
    torch.set_num_threads(1)
    model, encoder = rounded(args.state), Encoder(tokenizer.load())
    for number in range(rank, args.chunks, args.processes):
        path = args.state / "replies" / f"{number}.safetensors"
        if not path.exists():
            save_file(answer(model, encoder, number), path.with_suffix(".partial"))
            os.replace(path.with_suffix(".partial"), path)
            print(f"{number + 1} of {args.chunks}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--chunks", type=int, default=60)
    parser.add_argument("--processes", type=int, default=1)
    args = parser.parse_args()
    (args.state / "replies").mkdir(parents=True, exist_ok=True)
    processes.start_processes(work, (args,), args.processes, start_method="spawn")


if __name__ == "__main__":
    main()
