"""Asks the local server what programs ask, with OpenAI's own package, and checks what that makes of the answers.

Called with the port, in front of the engine that does as each question says.
"""

import json
import sys

from openai import BadRequestError, InternalServerError, NotFoundError, OpenAI


def question(**script):
    return [{"role": "user", "content": json.dumps(script)}]


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

    try:
        client.chat.completions.create(**{**asked, "messages": question(say=["a"], fail="mlx_failed")})
        raise AssertionError("it did not fail")
    except InternalServerError as failed:
        assert failed.code == "internal", failed


main(int(sys.argv[1]))
