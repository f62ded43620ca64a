"""Shows what a model says to questions in a file, one a line, each in a chat of its own.

python ask.py --state FOLDER first_questions.txt
"""

import argparse
from pathlib import Path

import torch

import selfgen
import tokenizer
from chats import Chat
from decode import replies
from render import Encoder


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--thinking", action="store_true")
    parser.add_argument("--temperature", type=float, default=0)
    parser.add_argument("questions", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    model, encoder = selfgen.rounded(args.state), Encoder(tokenizer.load())
    asked = args.questions.read_text().splitlines()
    chats = [
        Chat([{"role": "user", "content": ask}, {"role": "assistant", "content": ""}], "", args.thinking)
        for ask in asked
    ]
    made = replies(model, [encoder.prompt(chat) for chat in chats], encoder.end, 240, args.temperature)
    for ask, ids in zip(asked, made):
        print(f"> {ask}\n{encoder.tokenizer.decode([i for i in ids if i != encoder.end], skip_special_tokens=False)}\n")


if __name__ == "__main__":
    main()
