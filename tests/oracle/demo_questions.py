#!/usr/bin/env python3
"""The first questions of 200 chats drawn from the demo model's corpus.

    demo_questions.py > ../fixtures/demo-questions.json
"""
import json
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src-tauri/resources/demo-model"))
import corpus  # noqa: E402

rng = random.Random(200)
chats = (corpus.conversation(rng) for _ in range(200))
questions = [next(m["content"] for m in chat if m["role"] == "user") for chat in chats]
print(json.dumps(questions, indent=0))
