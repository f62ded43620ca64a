"""Asks the local server what programs ask, with Anthropic's own package, and checks what that makes of the answers.

Called with the port, in front of the engine that does as each question says.
"""

import json
import sys

from anthropic import Anthropic, BadRequestError, NotFoundError, beta_tool


def question(**script):
    return [{"role": "user", "content": json.dumps(script)}]


def rounds(client):
    """The package runs a tool itself until it is used no more. It would keep the chat on the server if it could."""
    cities = []

    @beta_tool
    def weather(city: str) -> str:
        """Tells the weather."""
        cities.append(city)
        return "21"

    def call(city):
        return f"<tool_call>\n<function=weather>\n<parameter=city>\n{city}\n</parameter>\n</function>\n</tool_call>"

    script = dict(say=[*call("Rome")], then=[{"say": [*call("Oslo")]}, {"say": ["21", " and 3"]}])
    asked = dict(model="default", max_tokens=999, messages=question(**script))
    final = client.beta.messages.tool_runner(**asked, tools=[weather]).until_done()
    assert final.content[0].text == "21 and 3" and cities == ["Rome", "Oslo"], (final, cities)


def main(port):
    client = Anthropic(base_url=f"http://localhost:{port}", api_key="none")
    script = dict(think=["H", "m"], say=["Hello", ", ", "you"], prompt_tokens=9, cached_tokens=4)
    asked = dict(model="default", max_tokens=99, messages=question(**script))

    whole = client.messages.create(**asked)
    thinking, text = whole.content
    assert thinking.type == "thinking" and thinking.thinking == "Hm" and thinking.signature, whole
    assert text.text == "Hello, you" and whole.stop_reason == "end_turn", whole
    assert (whole.usage.input_tokens, whole.usage.cache_read_input_tokens) == (5, 4), whole

    with client.messages.stream(**asked) as stream:
        said = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert said == text.text == final.content[1].text and final.usage == whole.usage, final
    assert final.content[0] == thinking, final

    call = "<tool_call>\n<function=weather>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>"
    schema = {"type": "object", "properties": {"days": {"type": "integer"}}}
    tools = [{"name": "weather", "input_schema": schema}, {"type": "web_search_20250305", "name": "web_search"}]
    called = dict(asked, messages=question(say=[*("I look.\n\n" + call)]), tools=tools)
    with client.messages.stream(**called) as stream:
        for _ in stream:
            pass
        final = stream.get_final_message()
    text, use = final.content
    assert final.stop_reason == "tool_use" and use.input == {"days": 3} and use.name == "weather", final
    result = {"type": "tool_result", "tool_use_id": use.id, "content": "21"}
    turns = [
        *called["messages"],
        {"role": "assistant", "content": final.content},
        {"role": "user", "content": [result, {"type": "text", "text": json.dumps({"say": ["Warm."]})}]},
    ]
    answered = client.messages.create(**dict(called, messages=turns))
    assert answered.content[0].text == "Warm.", answered

    rounds(client)
    counted = client.messages.count_tokens(model="default", messages=[{"role": "user", "content": "one two"}])
    assert counted.input_tokens == 2, counted
    models = list(client.models.list())
    assert client.models.retrieve(models[0].id).id == models[0].id, models

    for wanted, change in [
        (BadRequestError, {"extra_body": {"temperature": 9}}),
        (BadRequestError, {"messages": question(prompt_tokens=2000)}),
        (NotFoundError, {"model": "other"}),
    ]:
        try:
            client.messages.create(**{**asked, **change})
            raise AssertionError(f"{change} was not refused")
        except wanted as refused:
            assert refused.request_id.startswith("req_"), refused
            assert refused.response.headers["x-should-retry"] == "false", change


main(int(sys.argv[1]))
