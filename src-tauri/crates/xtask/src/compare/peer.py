"""Speed of mlx-lm or mlx-vlm on one checkpoint, as a line of JSON.

    peer.py PEER CHECKPOINT QUESTION --prompt-tokens N --tokens N [--drafts 1,2,3 [--draft-model DIR]]

Reads pseudo-random tokens, and decodes greedily after the question in the model's chat template, stop tokens ignored.
Everything is done twice, and the first time does not count: it compiles kernels and fills caches. What is computed, and
in which pieces, is left to the peer's own generation loop. Loading is timed once, from a folder to evaluated weights and
a tokenizer, Python's imports not counted.
"""

import argparse
import json
import time
from importlib.metadata import version
from pathlib import Path


class MlxLm:
    def __init__(self, checkpoint):
        import mlx_lm
        from mlx_lm.generate import generate_step

        self.generate = generate_step
        begin = time.perf_counter()
        self.model, self.tokenizer = mlx_lm.load(checkpoint)
        self.load_seconds = time.perf_counter() - begin

    def read(self, prompt, told):
        """Reads a prompt up to its last token; calls `told` when it begins and when it is done."""
        def progress(done, total):
            if done in (0, total - 1):
                told()

        next(self.generate(mx.array(prompt), self.model, max_tokens=1, prompt_progress_callback=progress))

    def decode(self, prompt, tokens, drafts):
        if drafts:
            raise SystemExit("mlx-lm leaves the MTP head out")
        return self.generate(mx.array(prompt), self.model, max_tokens=tokens)


class MlxVlm:
    def __init__(self, checkpoint):
        import mlx_vlm
        from mlx_vlm.generate.ar import generate_step
        from mlx_vlm.speculative.drafters import load_drafter

        self.generate, self.load_drafter, self.checkpoint = generate_step, load_drafter, checkpoint
        begin = time.perf_counter()
        self.model, processor = mlx_vlm.load(checkpoint)
        self.load_seconds = time.perf_counter() - begin
        self.tokenizer = getattr(processor, "tokenizer", processor)
        self.drafting = {}
        self.draft_model = None

    def read(self, prompt, told):
        told()
        until = {"prompt_cache_checkpoint": lambda *_: told(), "prompt_cache_checkpoint_lengths": [len(prompt) - 1]}
        next(self.step(prompt, 1, until))

    def decode(self, prompt, tokens, drafts):
        if not drafts:
            return self.step(prompt, tokens, {})
        if not self.drafting:
            # Without a draft model the head of the same checkpoint.
            model, kind = self.load_drafter(self.draft_model or self.checkpoint)
            self.drafting = {"draft_model": model, "draft_kind": kind}
        # A block is the drafts and the token before them.
        return self.step(prompt, tokens, {**self.drafting, "draft_block_size": drafts + 1})

    def step(self, prompt, tokens, more):
        return self.generate(mx.array(prompt)[None], self.model, None, None, max_tokens=tokens, temperature=0.0, **more)


PEERS = {"mlx-lm": MlxLm, "mlx-vlm": MlxVlm}


def ordinary_tokens(checkpoint, count):
    """The tokens that `foretoken-engine bench` reads: a linear congruential generator, Knuth's MMIX constants."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(Path(checkpoint) / "tokenizer.json"))
    ordinary = tokenizer.get_vocab_size(with_added_tokens=False)
    state, tokens = 1, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        tokens.append((state >> 32) % ordinary)
    return tokens


def prefill(peer, checkpoint, prompt_tokens):
    """Prompt tokens per second."""
    times = []
    # The last one is the first that is decoded.
    peer.read(ordinary_tokens(checkpoint, prompt_tokens + 1), lambda: times.append(time.perf_counter()))
    return prompt_tokens / (times[1] - times[0])


def decode(peer, prompt, tokens, drafts):
    """Tokens per second from the first token on, and the tokens."""
    ids, times = [], []
    for token, _ in peer.decode(prompt, tokens, drafts):
        ids.append(int(token))
        times.append(time.perf_counter())
    if len(ids) != tokens:
        raise SystemExit(f"{len(ids)} tokens came instead of {tokens}")
    return (len(times) - 1) / (times[-1] - times[0]), ids


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("checkpoint")
    parser.add_argument("question")
    parser.add_argument("--prompt-tokens", type=int, required=True)
    parser.add_argument("--tokens", type=int, required=True)
    # Without it: loading, prefill and plain decoding.
    parser.add_argument("--drafts", default="")
    parser.add_argument("--draft-model")
    args = parser.parse_args()

    peer = PEERS[args.peer](args.checkpoint)
    peer.draft_model = args.draft_model
    chat = [{"role": "user", "content": args.question}]
    template = {"add_generation_prompt": True, "enable_thinking": False, "return_dict": False}
    prompt = list(peer.tokenizer.apply_chat_template(chat, **template))
    told, ids = {}, []
    for _ in range(2):
        if not args.drafts:
            told = {"load": peer.load_seconds, "prefill": prefill(peer, args.checkpoint, args.prompt_tokens)}
        told["decode"] = []
        for drafts in map(int, (args.drafts or "0").split(",")):
            speed, ids = decode(peer, prompt, args.tokens, drafts)
            told["decode"].append((drafts, speed))
    gpu = "metal" if mx.metal.is_available() else "cuda"
    device = "cpu" if mx.default_device().type == mx.DeviceType.cpu else gpu
    print(json.dumps({
        "version": version(args.peer), "mlx": version("mlx"), "device": device, "prompt_tokens": len(prompt),
        "ids": ids, **told,
    }))


if __name__ == "__main__":
    import mlx.core as mx

    main()
