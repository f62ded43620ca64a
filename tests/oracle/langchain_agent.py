"""Runs an agent of two tools and five steps with LangChain's package, and checks that each step sees what came before.

Called with the port, in front of the engine that does as each question says.
"""

import json
import sys

from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

used = []


@tool
def weather(city: str, days: int = 1) -> str:
    """Tells the weather of a city in so many days."""
    used.append(("weather", city, days))
    return f"{20 + days} degrees in {city}"


@tool
def convert(degrees: float, to: str) -> str:
    """Converts degrees Celsius."""
    used.append(("convert", degrees, to))
    return f"{degrees * 1.8 + 32} {to}"


TOOLS = {"weather": weather, "convert": convert}


def written(name, **arguments):
    """A call as models of the family write it, letter by letter."""
    parameters = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in arguments.items())
    return [*f"<tool_call>\n<function={name}>\n{parameters}</function>\n</tool_call>"]


STEPS = [
    dict(think=["I look."], say=[*"First Rome.\n\n", *written("weather", city='Rome "x"', days=3)]),
    dict(say=[*written("weather", city="Oslo"), "\n", *written("convert", degrees=23, to="F")]),
    dict(say=written("convert", degrees=-4.5, to="F")),
    dict(say=written("weather", city="Köln\nam Rhein", days=2)),
    dict(say=["Rome", " is", " warmer."]),
]
USED = [
    ("weather", 'Rome "x"', 3),
    ("weather", "Oslo", 1),
    ("convert", 23.0, "F"),
    ("convert", -4.5, "F"),
    ("weather", "Köln\nam Rhein", 2),
]


def run(model, streams):
    """The turns of the agent: it calls tools until the model says no more."""
    used.clear()
    turns = [HumanMessage(json.dumps(dict(STEPS[0], then=STEPS[1:])))]
    steps = 0
    while True:
        if streams:
            pieces = list(model.stream(turns))
            answer = pieces[0]
            for piece in pieces[1:]:
                answer += piece
        else:
            answer = model.invoke(turns)
        steps += 1
        assert not answer.invalid_tool_calls, answer
        turns.append(answer)
        if not answer.tool_calls:
            return turns, steps
        assert answer.response_metadata["finish_reason"] == "tool_calls", answer
        # In the order in which they end, which is another one.
        results = [TOOLS[call["name"]].invoke(call) for call in answer.tool_calls]
        turns.extend(reversed(results))


def main(port):
    model = ChatOpenAI(base_url=f"http://localhost:{port}/v1", api_key="none", model="default", max_retries=0)
    for streams in (False, True):
        turns, steps = run(model.bind_tools([weather, convert]), streams)
        assert steps == 5 and used == USED, (streams, used)
        assert turns[1].content == "First Rome." and turns[-1].content == "Rome is warmer.", turns
        assert len({call["id"] for turn in turns for call in getattr(turn, "tool_calls", [])}) == 5, turns


main(int(sys.argv[1]))
