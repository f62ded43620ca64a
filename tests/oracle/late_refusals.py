"""Is refused at its turn, for which it has waited so long that the head of its answer has come, with the packages of
OpenAI and Anthropic: each raises an error that says why, or ends with the event that its dialect has for that.

Called with the port, in front of an engine that does as each question says and writes one reply at a time.
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

import anthropic
import openai

# Seconds that somebody else has the place; after five something is sent to those that wait.
HELD = 8


def question(**script):
    return [{"role": "user", "content": json.dumps(script)}]


REFUSED = question(fail="invalid_grammar")


def chat(client):
    try:
        list(client.chat.completions.create(model="default", messages=REFUSED, stream=True))
    except openai.APIError as refused:
        assert refused.code == "invalid_schema" and refused.type == "invalid_request_error", refused
        return
    raise AssertionError("chat: it was answered")


def completions(client):
    prompt = REFUSED[0]["content"]
    try:
        list(client.completions.create(model="default", prompt=prompt, stream=True))
    except openai.APIError as refused:
        assert refused.code == "invalid_schema" and refused.type == "invalid_request_error", refused
        return
    raise AssertionError("completions: it was answered")


def responses(client):
    *_, last = client.responses.create(model="default", input=REFUSED, stream=True)
    assert last.type == "response.failed" and last.response.status == "failed", last
    assert last.response.error.code == "invalid_schema", last


def messages(client):
    try:
        with client.messages.stream(model="default", max_tokens=9, messages=REFUSED) as stream:
            stream.get_final_message()
    except anthropic.APIStatusError as refused:
        assert refused.body["error"]["type"] == "invalid_request_error", refused
        return
    raise AssertionError("messages: it was answered")


def main(port):
    of_openai = openai.OpenAI(base_url=f"http://localhost:{port}/v1", api_key="none", max_retries=0)
    of_anthropic = anthropic.Anthropic(base_url=f"http://localhost:{port}", api_key="none", max_retries=0)
    with ThreadPoolExecutor() as threads:
        held = of_openai.chat.completions.create(
            model="default", messages=question(say=["a"] * 2, token_ms=HELD * 500), stream=True
        )
        next(iter(held))
        asking = [threads.submit(ask, of_openai) for ask in (chat, completions, responses)]
        asking.append(threads.submit(messages, of_anthropic))
        assert sum(len(chunk.choices) for chunk in held) > 1
        for asked in asking:
            asked.result()


main(int(sys.argv[1]))
