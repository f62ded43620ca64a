"""Asks the local server what programs ask, with OpenAI's own package, and checks what that makes of the answers.

Called with the port, in front of the engine that does as each question says.
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

from httpx import Limits
from openai import BadRequestError, DefaultHttpxClient, InternalServerError, NotFoundError, OpenAI


def question(**script):
    return [{"role": "user", "content": json.dumps(script)}]


def customs(client):
    """A free-form tool, whole and streamed, and the round behind it."""
    text = 'say "hi"\n\\ é'
    call = f"<tool_call>\n<function=edit>\n<parameter=input>\n{text}\n</parameter>\n</function>\n</tool_call>"
    grammar = {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: /.+/"}}
    tools = [{"type": "custom", "custom": {"name": "edit", "description": "Edits.", "format": grammar}}]
    asked = dict(model="default", messages=question(say=[*call]), tools=tools)
    choice = client.chat.completions.create(**asked).choices[0]
    (made,) = choice.message.tool_calls
    assert choice.finish_reason == "tool_calls" and made.type == "custom", choice
    assert (made.custom.name, made.custom.input) == ("edit", text), made
    chunks = client.chat.completions.create(**asked, stream=True)
    deltas = [delta for chunk in chunks for delta in chunk.choices[0].delta.tool_calls or []]
    assert deltas[0].type == "custom" and deltas[0].custom["name"] == "edit" and len(deltas) > 9, deltas
    assert "".join(delta.custom["input"] for delta in deltas) == text, deltas
    result = {"role": "tool", "tool_call_id": made.id, "content": "edited"}
    turns = [*asked["messages"], choice.message, result, *question(say=["Done."])]
    again = client.chat.completions.create(**{**asked, "messages": turns})
    assert again.choices[0].message.content == "Done.", again


def responses(client):
    """Responses, whole and streamed, and a round of tools in them."""
    asked = dict(model="default", input=json.dumps({"think": ["Hm"], "say": ["Hello", ", ", "you"]}))
    whole = client.responses.create(**asked)
    assert whole.output_text == "Hello, you" and whole.status == "completed", whole
    assert [item.type for item in whole.output] == ["reasoning", "message"], whole
    assert whole.usage.output_tokens_details.reasoning_tokens == 1, whole
    with client.responses.stream(**asked) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert final.output_text == whole.output_text and final.usage == whole.usage, final
    assert kinds[0] == "response.created" and kinds[-1] == "response.completed", kinds

    say = ["<tool_call>\n<function=weather>\n<parameter=city>\nRo", "me\n</parameter>\n</function>\n</tool_call>"]
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
    tools = [{"type": "function", "name": "weather", "parameters": parameters}]
    question = {"role": "user", "content": json.dumps({"say": say})}
    with client.responses.stream(model="default", input=[question], tools=tools) as stream:
        for _ in stream:
            pass
        (call,) = stream.get_final_response().output
    assert call.type == "function_call" and json.loads(call.arguments) == {"city": "Rome"}, call
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "21"}
    again = json.dumps({"say": ["21 degrees"]})
    turns = [question, call.model_dump(exclude_none=True), result, {"role": "user", "content": again}]
    assert client.responses.create(model="default", input=turns, tools=tools).output_text == "21 degrees"

    counted = client.responses.input_tokens.count(model="default", input="one two three")
    assert counted.input_tokens == 3, counted
    try:
        client.responses.create(**asked, previous_response_id="resp_1")
        raise AssertionError("nothing is stored")
    except BadRequestError as refused:
        assert refused.code == "not_stored", refused


def main(port):
    client = OpenAI(base_url=f"http://localhost:{port}/v1", api_key="none")
    asked = dict(model="default", messages=question(think=["Hm"], say=["Hello", ", ", "you"]), seed=7)

    whole = client.chat.completions.create(**asked)
    message = whole.choices[0].message
    assert message.content == "Hello, you" and message.reasoning_content == "Hm", whole
    assert whole.choices[0].finish_reason == "stop" and whole.usage.completion_tokens == 4, whole
    assert whole.usage.completion_tokens_details.reasoning_tokens == 1, whole

    chunks = list(client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True}))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == message.content and chunks[-1].usage == whole.usage, chunks

    with client.chat.completions.stream(**asked) as stream:
        for _ in stream:
            pass
        final = stream.get_final_completion()
    assert final.choices[0].message.content == message.content, final

    several = client.chat.completions.create(**asked, n=2, logprobs=True, top_logprobs=1)
    assert [choice.index for choice in several.choices] == [0, 1], several
    assert bytes(several.choices[0].logprobs.content[1].bytes) == b"Hello", several

    call = "<tool_call>\n<function=weather>\n<parameter=city>\nRome\n</parameter>\n</function>\n</tool_call>"
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
    tools = [{"type": "function", "function": {"name": "weather", "parameters": parameters}}]
    say = [*("I look.\n\n" + call), *("\n" + call)]
    called = dict(model="default", messages=question(say=say), tools=tools)
    message = client.chat.completions.create(**called).choices[0].message
    assert message.content == "I look." and len(message.tool_calls) == 2, message
    assert json.loads(message.tool_calls[1].function.arguments) == {"city": "Rome"}, message
    with client.chat.completions.stream(**called) as stream:
        for _ in stream:
            pass
        final = stream.get_final_completion().choices[0]
    assert final.finish_reason == "tool_calls" and final.message.content == "I look.", final
    for streamed, call in zip(final.message.tool_calls, message.tool_calls, strict=True):
        assert streamed.function.arguments == call.function.arguments, final
    results = [{"role": "tool", "tool_call_id": call.id, "content": "21"} for call in reversed(message.tool_calls)]
    turns = [*called["messages"], message.model_dump(exclude_none=True), *results]
    again = client.chat.completions.create(**{**called, "messages": turns})
    assert again.choices[0].finish_reason == "tool_calls", again

    customs(client)
    responses(client)

    text = client.completions.create(model="default", prompt=json.dumps({"say": ["Once", " more"]}))
    assert text.choices[0].text == "Once more", text
    pieces = client.completions.create(model="default", prompt=json.dumps({"say": ["Once", " more"]}), stream=True)
    assert "".join(piece.choices[0].text for piece in pieces) == "Once more"

    models = list(client.models.list())
    assert client.models.retrieve(models[0].id).id == models[0].id, models

    # Each of these is asked once: whoever tried again would only wait.
    once = client.with_raw_response.chat.completions
    for wanted, change in [
        (BadRequestError, {"temperature": 9}),
        (BadRequestError, {"messages": question(prompt_tokens=2000)}),
        (NotFoundError, {"model": "other"}),
    ]:
        try:
            once.create(**{**asked, **change})
            raise AssertionError(f"{change} was not refused")
        except wanted as refused:
            assert refused.request_id.startswith("req_"), refused
            assert refused.response.headers["x-should-retry"] == "false", change

    # More than may wait: some are told to come again, do so by themselves, and are answered.
    statuses = []
    patient = OpenAI(
        base_url=f"http://localhost:{port}/v1",
        api_key="none",
        max_retries=6,
        http_client=DefaultHttpxClient(
            limits=Limits(max_connections=80),
            event_hooks={"response": [lambda response: statuses.append(response.status_code)]},
        ),
    )

    def ask(index):
        script = question(say=["a"], prefill_ms=1500 if index < 4 else 0)
        return patient.chat.completions.create(model="default", messages=script).choices[0].message.content

    with ThreadPoolExecutor(60) as threads:
        assert list(threads.map(ask, range(60))) == ["a"] * 60
    assert 429 in statuses and statuses.count(200) == 60, statuses

    try:
        client.chat.completions.create(**{**asked, "messages": question(say=["a"], fail="mlx_failed")})
        raise AssertionError("it did not fail")
    except InternalServerError as failed:
        assert failed.code == "internal", failed


main(int(sys.argv[1]))
