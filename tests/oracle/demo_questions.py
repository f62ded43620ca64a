#!/usr/bin/env python3
"""The first questions of 200 chats of the demo model's corpus.

    demo_questions.py > ../fixtures/demo-questions.json
"""
import itertools
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src-tauri/resources/demo-model/training"))
from chats import chat  # noqa: E402

# Questions about tools mean little without the tools.
chats = (chat("questions", index, "forms") for index in itertools.count())
chats = itertools.islice((chat for chat in chats if chat.family != "tools"), 200)
questions = [next(m["content"] for m in chat.messages if m["role"] == "user") for chat in chats]
print(json.dumps(questions, indent=0, ensure_ascii=False))
