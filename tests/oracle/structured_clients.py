"""Asks the local server for answers of a form, with the packages of OpenAI and Anthropic, and checks that they have it.

Called with the port, in front of a real model that takes tools.
"""

import json
import sys
from typing import Literal

from anthropic import Anthropic
from openai import LengthFinishReasonError, OpenAI
from pydantic import BaseModel, Field


class Sea(BaseModel):
    title: str = Field(max_length=24)
    waves: int = Field(ge=1, le=12)
    mood: Literal["calm", "stormy"]


class Weather(BaseModel):
    place: Literal["Rome", "Oslo"]
    days: int = Field(ge=1, le=9)


def main(port):
    client = OpenAI(base_url=f"http://localhost:{port}/v1", api_key="none")
    asked = dict(
        model="default",
        messages=[{"role": "user", "content": "Tell me about the sea."}],
        seed=5,
        reasoning_effort="none",
    )
    parsed = client.chat.completions.parse(**asked, response_format=Sea, max_tokens=200)
    assert isinstance(parsed.choices[0].message.parsed, Sea), parsed
    try:
        client.chat.completions.parse(**asked, response_format=Sea, max_tokens=3)
        raise AssertionError("three tokens are not enough")
    except LengthFinishReasonError as error:
        assert error.completion.choices[0].finish_reason == "length"

    parameters = Weather.model_json_schema()
    tools = [{"type": "function", "function": {"name": "weather", "strict": True, "parameters": parameters}}]
    choice = {"type": "function", "function": {"name": "weather"}}
    called = client.chat.completions.create(**asked, tools=tools, tool_choice=choice, max_tokens=200)
    (call,) = called.choices[0].message.tool_calls
    Weather.model_validate_json(call.function.arguments)

    claude = Anthropic(base_url=f"http://localhost:{port}", api_key="none")
    message = claude.messages.create(
        model="default",
        max_tokens=200,
        messages=asked["messages"],
        thinking={"type": "disabled"},
        tools=[{"name": "weather", "input_schema": parameters}],
        tool_choice={"type": "any"},
    )
    calls = [block for block in message.content if block.type == "tool_use"]
    assert calls and message.stop_reason == "tool_use", message
    for block in calls:
        Weather.model_validate(block.input)
    json.dumps(message.model_dump(mode="json"))


main(int(sys.argv[1]))
