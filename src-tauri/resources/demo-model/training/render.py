"""Writes chats with the chat template that is shipped, and finds in them what the model itself has to write."""

import json
from pathlib import Path

import jinja2

START, END, PAD = "<|im_start|>", "<|im_end|>", "<|endoftext|>"
TAGS = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]
MASK = "<|mask|>"

environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
TEMPLATE = environment.from_string(Path(__file__).with_name("chat_template.jinja").read_text())


def render(chat, ask_only=False):
    """The text of a chat; with `ask_only` up to the last answer, which is then to be written."""
    messages = chat.messages[:-1] if ask_only else chat.messages
    return TEMPLATE.render(
        messages=messages, tools=chat.tools, add_generation_prompt=ask_only, enable_thinking=chat.thinking
    )


class Encoder:
    """Turns chats into ids."""

    def __init__(self, tokenizer, thinks_from=None):
        self.tokenizer = tokenizer
        self.start, self.end, self.pad = (tokenizer.token_to_id(t) for t in (START, END, PAD))
        self.think, self.thought = tokenizer.token_to_id("<think>"), tokenizer.token_to_id("</think>")
        self.header = tokenizer.encode("assistant\n", add_special_tokens=False).ids

    def prompt(self, chat):
        return self.tokenizer.encode(render(chat, ask_only=True), add_special_tokens=False).ids

    def rows(self, chat):
        """Ids of the whole chat, and for each whether the model writes it: 1, or it stands in the prompt: 0."""
        ids = self.tokenizer.encode(render(chat), add_special_tokens=False).ids
        wanted, i = [0] * len(ids), 0
        while i < len(ids):
            if ids[i] == self.start and ids[i + 1 : i + 1 + len(self.header)] == self.header:
                i += 1 + len(self.header)
                # The prompt ends with an open thinking block, or with an empty one.
                if ids[i] == self.think:
                    i += 4 if ids[i + 2] == self.thought else 2
                while ids[i] != self.end:
                    wanted[i] = 1
                    i += 1
                wanted[i] = 1
            i += 1
        # What follows the last answer is read by nobody.
        while ids and not wanted[-1]:
            ids.pop(), wanted.pop()
        return ids, wanted
