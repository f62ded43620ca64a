"""Waits for answers whose prompts are read for longer than a connection may be silent, with the packages of OpenAI and
Anthropic.

Called with the port, in front of the engine that does as each question says. The clocks are scaled: the packages' own
patience is minutes, and the server says something after each five seconds.
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

import anthropic
import openai

# Seconds that a prompt is read, and those without a byte after which these clients would give up.
READING = 16
PATIENCE = 8
QUESTION = [{"role": "user", "content": json.dumps({"say": ["At", " last"], "prefill_ms": READING * 1000})}]


def settings(package):
    return dict(api_key="none", timeout=package.Timeout(60, read=PATIENCE), max_retries=0)


def messages(port):
    client = anthropic.Anthropic(base_url=f"http://localhost:{port}", **settings(anthropic))
    with client.messages.stream(model="default", max_tokens=99, messages=QUESTION) as stream:
        assert "".join(stream.text_stream) == "At last"
    # Without a stream nothing holds the connection: the packages ask for one themselves where it could take long.
    try:
        client.messages.create(model="default", max_tokens=99, messages=QUESTION)
    except anthropic.APITimeoutError:
        return
    raise AssertionError("the prompt was read too soon to show anything")


def chat(port):
    client = openai.OpenAI(base_url=f"http://localhost:{port}/v1", **settings(openai))
    chunks = list(client.chat.completions.create(model="default", messages=QUESTION, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "At last", chunks


def responses(port):
    client = openai.OpenAI(base_url=f"http://localhost:{port}/v1", **settings(openai))
    with client.responses.stream(model="default", input=QUESTION) as stream:
        for _ in stream:
            pass
        assert stream.get_final_response().output_text == "At last"


with ThreadPoolExecutor() as threads:
    for asked in [threads.submit(ask, int(sys.argv[1])) for ask in (messages, chat, responses)]:
        asked.result()
