"""Shows pictures to the local server with the packages of OpenAI and Anthropic, and checks that both are told the same.

Called with the port, in front of a model that sees.
"""

import base64
import struct
import sys
import zlib

from anthropic import Anthropic
from openai import BadRequestError, OpenAI

QUESTION = "What is this?"


def png(width, height):
    """A picture whose colours run from side to side."""
    rows = b"".join(b"\0" + bytes(v % 256 for x in range(width) for v in (x, y, x + y)) for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    chunk = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*each) for each in chunks)).decode()


def main(port):
    picture = png(150, 100)
    url = f"data:image/png;base64,{picture}"
    openai = OpenAI(base_url=f"http://localhost:{port}/v1", api_key="none", max_retries=0)
    anthropic = Anthropic(base_url=f"http://localhost:{port}", api_key="none", max_retries=0)

    content = [{"type": "text", "text": QUESTION}, {"type": "image_url", "image_url": {"url": url, "detail": "high"}}]
    asked = dict(model="default", messages=[{"role": "user", "content": content}], temperature=0, max_tokens=12)
    whole = openai.chat.completions.create(**asked, extra_body={"enable_thinking": False})
    text, tokens = whole.choices[0].message.content, whole.usage.prompt_tokens
    assert text and tokens > 17, whole

    content = [{"type": "input_text", "text": QUESTION}, {"type": "input_image", "image_url": url, "detail": "high"}]
    turn = [{"role": "user", "content": content}]
    asked = dict(model="default", input=turn, reasoning={"effort": "none"})
    response = openai.responses.create(**asked, temperature=0, max_output_tokens=12)
    assert (response.output_text, response.usage.input_tokens) == (text, tokens), (response, whole)

    source = {"type": "base64", "media_type": "image/png", "data": picture}
    turn = [{"role": "user", "content": [{"type": "text", "text": QUESTION}, {"type": "image", "source": source}]}]
    asked = dict(model="default", messages=turn, thinking={"type": "disabled"})
    message = anthropic.messages.create(**asked, max_tokens=12, extra_body={"temperature": 0})
    usage = message.usage
    assert message.content[0].text == text, (message, whole)
    assert usage.input_tokens + usage.cache_read_input_tokens == tokens, (message, whole)
    assert anthropic.messages.count_tokens(**asked).input_tokens == tokens

    content = [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]
    try:
        openai.chat.completions.create(model="default", messages=[{"role": "user", "content": content}])
        raise AssertionError("a picture was fetched")
    except BadRequestError as error:
        assert error.code == "image_url_not_supported", error
    assert openai.models.list().data[0].capabilities["vision"] is True


if __name__ == "__main__":
    main(sys.argv[1])
