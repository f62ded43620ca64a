"""Asks the local server what agents ask, with LangChain's package, and checks what that makes of the answers.

Called with the port, in front of a real model that takes tools.
"""

import sys
from typing import Literal

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field


class Weather(BaseModel):
    """Tells the weather of a place."""

    place: Literal["Rome", "Oslo"]
    days: int = Field(ge=1, le=9)


class Sea(BaseModel):
    """A sea."""

    title: str = Field(max_length=24)
    waves: int = Field(ge=1, le=12)
    mood: Literal["calm", "stormy"]


def streamed(model, asked):
    """All pieces of an answer, joined by the package."""
    pieces = list(model.stream(asked))
    whole = pieces[0]
    for piece in pieces[1:]:
        whole += piece
    return pieces, whole


def main(port):
    model = ChatOpenAI(
        base_url=f"http://localhost:{port}/v1",
        api_key="none",
        model="default",
        seed=5,
        temperature=0,
        max_tokens=200,
        reasoning_effort="none",
        stream_usage=True,
    )
    asked = [HumanMessage("Tell me about the sea.")]

    whole = model.invoke(asked)
    pieces, gathered = streamed(model, asked)
    assert len(pieces) > 3 and gathered.content == whole.content, gathered
    for answer in (whole, gathered):
        assert answer.usage_metadata["output_tokens"] > 0, answer
        assert answer.usage_metadata["total_tokens"] == whole.usage_metadata["total_tokens"], answer

    tools = model.bind_tools([Weather], tool_choice="Weather")
    called = tools.invoke(asked)
    (call,) = called.tool_calls
    Weather.model_validate(call["args"])
    _, gathered = streamed(tools, asked)
    assert [one["args"] for one in gathered.tool_calls] == [call["args"]], gathered
    # A loop of an agent: two rounds that must call, and one that may.
    turns, free = list(asked), model.bind_tools([Weather])
    for step in (tools, tools, free):
        answer = step.invoke(turns)
        assert step is free or answer.tool_calls, answer
        turns.append(answer)
        for call in answer.tool_calls:
            turns.append(ToolMessage("21 degrees", tool_call_id=call["id"]))

    for method in ("json_schema", "function_calling"):
        for strict in (None, True):
            form = model.with_structured_output(Sea, method=method, strict=strict)
            assert isinstance(form.invoke(asked), Sea), (method, strict)
    raw = model.with_structured_output(Sea, method="json_schema", include_raw=True).invoke(asked)
    assert raw["parsing_error"] is None and isinstance(raw["parsed"], Sea), raw


main(int(sys.argv[1]))
