"""Sends the local server what other programs send, and checks the answers by the types of the packages that they use.

Called with the port, in front of the engine that does as each question says. The requests are in `../api/recorded`,
each file with where it comes from. In them, `$SCRIPT` stands for what the person asks, and `$CALL` for the id of the call
that was answered before.
"""

import json
import sys
import urllib.request
from pathlib import Path

from anthropic.types import Message, RawMessageStreamEvent
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

RECORDED = Path(__file__).parent.parent / "api" / "recorded"
SAID = "It says hello."


def filled(value, words):
    """The value with these words put in."""
    if isinstance(value, dict):
        return {key: filled(one, words) for key, one in value.items()}
    if isinstance(value, list):
        return [filled(one, words) for one in value]
    if isinstance(value, str):
        for name, word in words.items():
            value = value.replace(name, word)
    return value


def written(call):
    """A call as the model writes it, in small pieces."""
    arguments = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in call["arguments"].items())
    return list(f"<tool_call>\n<function={call['name']}>\n{arguments}</function>\n</tool_call>")


def ask(port, recorded, body):
    """The events of a stream, or the whole answer as the only one."""
    address = f"http://localhost:{port}{recorded['path']}"
    request = urllib.request.Request(address, json.dumps(body).encode(), recorded["headers"])
    with urllib.request.urlopen(request) as answer:
        text = answer.read().decode()
    if not body.get("stream"):
        return [json.loads(text)]
    data = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return [json.loads(one) for one in data if one != "[DONE]"]


def of_chat(events, streamed):
    """The text and the calls of an answer: id, name and arguments."""
    if not streamed:
        message = ChatCompletion.model_validate(events[0]).choices[0].message
        calls = message.tool_calls or []
        return message.content, [(call.id, call.function.name, call.function.arguments) for call in calls]
    deltas = [choice.delta for event in events for choice in ChatCompletionChunk.model_validate(event).choices]
    calls = {}
    for call in (call for delta in deltas for call in delta.tool_calls or []):
        id, name, arguments = calls.get(call.index, (call.id, call.function.name, ""))
        calls[call.index] = (id, name, arguments + call.function.arguments)
    return "".join(delta.content or "" for delta in deltas), list(calls.values())


def of_messages(events, streamed):
    """The same of a message."""
    if not streamed:
        blocks = Message.model_validate(events[0]).content
        calls = [(block.id, block.name, json.dumps(block.input)) for block in blocks if block.type == "tool_use"]
        return "".join(block.text for block in blocks if block.type == "text"), calls
    types = TypeAdapter(RawMessageStreamEvent)
    text, calls = "", []
    for event in map(types.validate_python, (event for event in events if event["type"] != "ping")):
        if event.type == "content_block_start" and event.content_block.type == "tool_use":
            calls.append((event.content_block.id, event.content_block.name, ""))
        if event.type == "content_block_delta" and event.delta.type == "text_delta":
            text += event.delta.text
        if event.type == "content_block_delta" and event.delta.type == "input_json_delta":
            id, name, arguments = calls[-1]
            calls[-1] = (id, name, arguments + event.delta.partial_json)
    return text, calls


def of_responses(events, streamed):
    """The same of a response."""
    if streamed:
        types = TypeAdapter(ResponseStreamEvent)
        events = [types.validate_python(event) for event in events]
        response = events[-1].response
        assert events[-1].type == "response.completed", events[-1]
    else:
        response = Response.model_validate(events[0])
    calls = [item for item in response.output if item.type == "function_call"]
    return response.output_text, [(call.call_id, call.name, call.arguments) for call in calls]


READERS = {"/v1/chat/completions": of_chat, "/v1/messages": of_messages, "/v1/responses": of_responses}


def main(port):
    files = sorted(RECORDED.glob("*.json"))
    assert len(files) >= 3, files
    for file in files:
        recorded = json.loads(file.read_text())
        read = READERS[recorded["path"].split("?")[0]]
        call = recorded["call"]
        script = {"think": ["Hm"], "say": [SAID]}
        if call:
            script = {"think": ["Hm"], "say": written(call), "then": [script]}
        words = {"$SCRIPT": json.dumps(script)}
        for number, body in enumerate(recorded["bodies"]):
            for streamed in {body.get("stream", False), False}:
                body = {**filled(body, words), "stream": streamed}
                text, calls = read(ask(port, recorded, body), streamed)
                if call and number == 0:
                    ((id, name, arguments),) = calls
                    assert name == call["name"] and json.loads(arguments) == call["arguments"], (file, calls)
                    words["$CALL"] = id
                else:
                    assert text == SAID and not calls, (file, text, calls)


main(int(sys.argv[1]))
