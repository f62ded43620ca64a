"""Writes what is shipped, in raw Hugging Face layout and bf16: the model into checkpoint/, its drafter into dflash/;
and beside them provenance.json, which says from what they were made.

python export.py --state FOLDER --out ..
"""

import argparse
import hashlib
import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import save_file

import dflash
import mtp
import selfgen
import tokenizer
import train
from model import CHANNELS, CONFIG, HEAD, HEADS, INNER, KV_HEADS, VALUE, VALUE_HEADS
from render import END, MASK, PAD, START, TAGS

HERE = Path(__file__).parent


def attention(state, old, new):
    """The matrices of a gated attention layer, taken apart."""
    q, k, v = state[f"{old}.qkv.weight"].split([2 * HEADS * HEAD, KV_HEADS * HEAD, KV_HEADS * HEAD])
    return {
        f"{new}.q_proj.weight": q,
        f"{new}.k_proj.weight": k,
        f"{new}.v_proj.weight": v,
        f"{new}.o_proj.weight": state[f"{old}.out.weight"],
        f"{new}.q_norm.weight": state[f"{old}.q_norm.weight"],
        f"{new}.k_norm.weight": state[f"{old}.k_norm.weight"],
    }


def delta(state, old, new):
    """The tensors of a Gated DeltaNet layer, taken apart."""
    qkv, z, b, a = state[f"{old}.inp.weight"].split([CHANNELS, VALUE, VALUE_HEADS, VALUE_HEADS])
    return {
        f"{new}.in_proj_qkv.weight": qkv,
        f"{new}.in_proj_z.weight": z,
        f"{new}.in_proj_b.weight": b,
        f"{new}.in_proj_a.weight": a,
        f"{new}.conv1d.weight": state[f"{old}.conv"].T[:, None],
        f"{new}.dt_bias": state[f"{old}.dt_bias"],
        f"{new}.A_log": state[f"{old}.A_log"],
        f"{new}.norm.weight": state[f"{old}.norm"],
        f"{new}.out_proj.weight": state[f"{old}.out.weight"],
    }


def layer(state, old, new, linear):
    gate, up = state[f"{old}.mlp.gate_up.weight"].split([INNER, INNER])
    mixer = (
        delta(state, f"{old}.mixer", f"{new}.linear_attn")
        if linear
        else attention(state, f"{old}.mixer", f"{new}.self_attn")
    )
    return {
        **mixer,
        f"{new}.mlp.gate_proj.weight": gate,
        f"{new}.mlp.up_proj.weight": up,
        f"{new}.mlp.down_proj.weight": state[f"{old}.mlp.down.weight"],
        f"{new}.input_layernorm.weight": state[f"{old}.mixer_norm.weight"],
        f"{new}.post_attention_layernorm.weight": state[f"{old}.mlp_norm.weight"],
    }


def tensors(state):
    """The tensors of a training state by the names that Qwen3.5's checkpoints have."""
    trunk = "model.language_model"
    named = {
        f"{trunk}.embed_tokens.weight": state["embed.weight"],
        f"{trunk}.norm.weight": state["norm.weight"],
        "mtp.fc.weight": state["mtp.fc.weight"],
        "mtp.norm.weight": state["mtp.norm.weight"],
        "mtp.pre_fc_norm_hidden.weight": state["mtp.hidden_norm.weight"],
        "mtp.pre_fc_norm_embedding.weight": state["mtp.embedding_norm.weight"],
        **layer(state, "mtp.layer", "mtp.layers.0", False),
    }
    for index, kind in enumerate(CONFIG["layer_types"]):
        named |= layer(state, f"layers.{index}", f"{trunk}.layers.{index}", kind == "linear_attention")
    return {
        name: (value.float() if name.endswith("A_log") else value.bfloat16()).contiguous()
        for name, value in named.items()
    }


def drafter_tensors(state):
    named = {
        "fc.weight": state["fc.weight"],
        "hidden_norm.weight": state["context_norm.weight"],
        "norm.weight": state["norm.weight"],
    }
    for index in range(dflash.LAYERS):
        old, new = f"layers.{index}", f"layers.{index}"
        k, v = state[f"{old}.attention.kv.weight"].chunk(2)
        gate, up = state[f"{old}.mlp.gate_up.weight"].chunk(2)
        named |= {
            f"{new}.self_attn.q_proj.weight": state[f"{old}.attention.q.weight"],
            f"{new}.self_attn.k_proj.weight": k,
            f"{new}.self_attn.v_proj.weight": v,
            f"{new}.self_attn.o_proj.weight": state[f"{old}.attention.out.weight"],
            f"{new}.self_attn.q_norm.weight": state[f"{old}.attention.q_norm.weight"],
            f"{new}.self_attn.k_norm.weight": state[f"{old}.attention.k_norm.weight"],
            f"{new}.mlp.gate_proj.weight": gate,
            f"{new}.mlp.up_proj.weight": up,
            f"{new}.mlp.down_proj.weight": state[f"{old}.mlp.down.weight"],
            f"{new}.input_layernorm.weight": state[f"{old}.attention_norm.weight"],
            f"{new}.post_attention_layernorm.weight": state[f"{old}.mlp_norm.weight"],
        }
    return {name: value.bfloat16().contiguous() for name, value in named.items()}


def write(path, value):
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def model_files(state, out):
    out.mkdir(parents=True, exist_ok=True)
    tok = tokenizer.load()
    pad, end = tok.token_to_id(PAD), tok.token_to_id(END)
    save_file(tensors(state), out / "model.safetensors", metadata={"format": "pt"})
    shutil.copy(tokenizer.PATH, out / "tokenizer.json")
    template = (HERE / "chat_template.jinja").read_text()
    (out / "chat_template.jinja").write_text(template)
    write(
        out / "config.json",
        {
            "architectures": ["Qwen3_5ForConditionalGeneration"],
            "model_type": "qwen3_5",
            "tie_word_embeddings": True,
            "text_config": {**CONFIG, "eos_token_id": pad},
        },
    )
    write(
        out / "generation_config.json",
        {
            "do_sample": True,
            "temperature": 0.7,
            "top_p": 0.9,
            "top_k": 20,
            "bos_token_id": pad,
            "pad_token_id": pad,
            "eos_token_id": [end, pad],
        },
    )
    write(
        out / "tokenizer_config.json",
        {
            "tokenizer_class": "Qwen2Tokenizer",
            "bos_token": None,
            "eos_token": END,
            "pad_token": PAD,
            "unk_token": None,
            "add_bos_token": False,
            "clean_up_tokenization_spaces": False,
            "split_special_tokens": False,
            "model_max_length": CONFIG["max_position_embeddings"],
            "chat_template": template,
            "added_tokens_decoder": {
                str(tok.token_to_id(t)): {
                    "content": t,
                    "lstrip": False,
                    "normalized": False,
                    "rstrip": False,
                    "single_word": False,
                    "special": t not in TAGS,
                }
                for t in [PAD, START, END, MASK, *TAGS]
            },
        },
    )


def drafter_files(state, out):
    out.mkdir(parents=True, exist_ok=True)
    save_file(drafter_tensors(state), out / "model.safetensors", metadata={"format": "pt"})
    write(
        out / "config.json",
        {
            "architectures": ["DFlashDraftModel"],
            "model_type": "qwen3",
            "hidden_size": CONFIG["hidden_size"],
            "num_hidden_layers": dflash.LAYERS,
            "num_attention_heads": HEADS,
            "num_key_value_heads": KV_HEADS,
            "head_dim": HEAD,
            "intermediate_size": INNER,
            "rms_norm_eps": 1e-6,
            "vocab_size": CONFIG["vocab_size"],
            "max_position_embeddings": CONFIG["max_position_embeddings"],
            "rope_theta": dflash.THETA,
            "layer_types": ["full_attention"] * dflash.LAYERS,
            "tie_word_embeddings": True,
            "dtype": "bfloat16",
            "num_target_layers": CONFIG["num_hidden_layers"],
            "dflash_config": {
                "block_size": dflash.BLOCK,
                "mask_token_id": tokenizer.load().token_to_id(MASK),
                "target_layer_ids": list(dflash.TAPS),
            },
        },
    )


def done(path, what):
    """What a training has got through; None where its state is gone."""
    return torch.load(path, weights_only=True)[what] if path.exists() else None


def provenance(folder, out):
    """Notes from what and how the files were made, and what they hash to."""
    path = folder / "state.pt"
    saved = torch.load(path, weights_only=True) if path.exists() else json.loads((train.KEPT / "state.json").read_text())
    files = sorted(file for name in ("checkpoint", "dflash") for file in (out / name).glob("*"))
    write(
        out / "provenance.json",
        {
            "corpus": saved["corpus"],
            "seed": train.SEED,
            "stages": [
                {"name": name, "chats": mix, "tokens": int(millions * 1e6)}
                for name, mix, millions, *_ in train.STAGES[: saved["stage"]]
            ],
            "mtp_head_tokens": done(folder / "mtp.pt", "tokens"),
            "drafter_blocks": done(folder / "dflash.pt", "done"),
            "steps": saved["step"],
            "core_seconds": round(saved.get("seconds", saved.get("core_seconds"))),
            "torch": torch.__version__,
            "sha256": {str(f.relative_to(out)): hashlib.sha256(f.read_bytes()).hexdigest() for f in files},
        },
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    state = selfgen.rounded(args.state).state_dict()
    head, drafter = mtp.best(args.state), dflash.trained(args.state)
    if not head or not drafter:
        raise SystemExit("There is no MTP head or no drafter yet: train them first, with mtp.py and dflash.py.")
    state |= {f"mtp.{name}": value for name, value in head.items()}
    model_files(state, args.out / "checkpoint")
    drafter_files(drafter, args.out / "dflash")
    provenance(args.state, args.out)


if __name__ == "__main__":
    main()
