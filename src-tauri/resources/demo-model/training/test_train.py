"""What has to hold of the training. Needs torch and a C compiler; skipped where torch is not installed."""

import random
import tempfile
import unittest
from pathlib import Path

try:
    import torch
except ImportError:
    torch = None
else:
    import decode
    import dflash
    import model
    import mtp
    import train
    from kernel import DeltaCore


def share(rank, folder):
    """One of two processes that take three steps and write down their weights."""
    torch.set_num_threads(1)
    train.dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    run = train.Run(Path(folder), SHORT, Path(folder), rank=rank, count=2)
    run.ended = rank == 1
    for _ in range(3):
        run.advance()
    torch.save((run.model.state_dict(), run.ended), f"{folder}/{rank}")


SHORT = [("copy", "copy", 1, 512, 160, 0.3, None, []), ("long", "long", 1, 512, 256, 0.1, 1, [])]


@unittest.skipIf(torch is None, "torch is not installed")
class Training(unittest.TestCase):
    def setUp(self):
        torch.set_num_threads(1)
        torch.manual_seed(0)
        random.seed(0)

    def run_of(self, folder, steps):
        run = train.Run(Path(folder), SHORT, Path(folder))
        losses = [run.advance() for _ in range(steps)]
        run.save()
        return run, losses

    def test_a_run_that_was_killed_goes_on_as_if_it_had_not_been(self):
        with tempfile.TemporaryDirectory() as whole, tempfile.TemporaryDirectory() as halves:
            expected, _ = self.run_of(whole, 40)
            _, first = self.run_of(halves, 20)
            torch.manual_seed(99)
            run, second = self.run_of(halves, 20)
            self.assertNotEqual(first[-1], second[-1])
            for (name, a), b in zip(expected.model.state_dict().items(), run.model.state_dict().values()):
                self.assertTrue(torch.equal(a, b), name)

    def test_a_fresh_checkout_goes_on_from_the_weights_that_were_kept(self):
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            run, _ = self.run_of(first, 2)
            run.next_stage()
            other = train.Run(Path(second), SHORT, Path(first))
            self.assertEqual((other.stage, other.step, other.tokens, other.warm), (1, 2, 0, 0))
            torch.testing.assert_close(other.model.embed.weight, run.model.embed.weight, rtol=1e-2, atol=1e-3)
            other.advance()

    def test_processes_share_a_step_and_keep_the_same_weights(self):
        with tempfile.TemporaryDirectory() as folder:
            train.processes.start_processes(share, (folder,), 2, start_method="spawn")
            (first, told), (second, _) = (torch.load(f"{folder}/{rank}") for rank in (0, 1))
        self.assertTrue(told, "all hear that one was told to end")
        alone = train.Run(Path(folder), SHORT, Path(folder))
        start = alone.model.embed.weight.clone()
        for _ in range(3):
            alone.advance()
        for name in first:
            self.assertTrue(torch.equal(first[name], second[name]), name)
        # Each takes the mean over its own rows, and so the step is nearly the one that a process takes alone.
        moved, alike = alone.model.embed.weight - start, alone.model.embed.weight - first["embed.weight"]
        self.assertLess(alike.norm(), 0.5 * moved.norm())

    def test_the_compiled_core_agrees_with_its_definition_and_so_do_its_gradients(self):
        layer = model.GatedDeltaNet()
        weights = [layer.conv, layer.dt_bias, layer.A_log, layer.norm]
        x = torch.randn(2, 37, model.CHANNELS + model.VALUE + 2 * model.VALUE_HEADS, requires_grad=True)
        upper = torch.randn(2, 37, model.VALUE)
        results = []
        for core in (DeltaCore.apply, model.chunked_delta):
            out = core(x, *weights)
            results.append([out, *torch.autograd.grad((out * upper).sum(), [x, *weights])])
        for a, b in zip(*results):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)

    def test_decoding_token_by_token_gives_what_reading_at_once_gives(self):
        network = model.Model()
        ids = torch.randint(0, model.VOCAB, (3, 24))
        whole = network.hidden(ids)
        hidden, cache = decode.read(network, [row[:n].tolist() for row, n in zip(ids, (5, 9, 16))], 16)
        position = torch.tensor([5, 9, 16])
        for row, n in enumerate((5, 9, 16)):
            torch.testing.assert_close(hidden[row], whole[row, n - 1], rtol=1e-3, atol=1e-3)
        for _ in range(8):
            hidden = network.step(ids[torch.arange(3), position], cache, position)
            torch.testing.assert_close(hidden, whole[torch.arange(3), position], rtol=1e-3, atol=1e-3)
            position = position + 1

    def test_chains_of_guesses_read_what_the_engine_gives_them(self):
        """Every chain computed alone: rows of the trunk up to its beginning, then its own."""
        network = model.Model().eval()
        ids, depth = torch.randint(0, model.VOCAB, (2, 12)), 3
        head = network.mtp
        with torch.no_grad():
            hidden = network.hidden(ids)
            outputs = mtp.chains(network, hidden, ids, depth)
            for i in range(ids.shape[1] - depth):
                given = hidden[:, : i + 1]
                for d in range(depth):
                    # One more row each time, at the place after the last.
                    joined = head.join(given, network.embed(ids[:, 1 : i + d + 2]))
                    m = head.norm(head.layer(joined))[:, -1:]
                    torch.testing.assert_close(outputs[d][:, i], m[:, 0], rtol=1e-3, atol=1e-3)
                    given = torch.cat([given, m], 1)

    def test_accepted_guesses_are_counted_as_the_engine_counts_them(self):
        """Cycle by cycle, on replies that follow the guesses most of the time."""
        network, drafter = model.Model().eval(), dflash.Drafter().eval()
        guesses = {"mtp": self.head_guesses, "dflash": self.block_guesses}
        for kind, guess in guesses.items():
            rows = []
            for begin, end in ((5, 24), (9, 31)):
                ids = torch.randint(0, model.VOCAB, (begin + 1,)).tolist()
                while len(ids) < end:
                    ids += guess(network, drafter, ids)[: random.randint(0, 3)]
                    ids.append(random.randrange(model.VOCAB))
                rows.append((torch.tensor(ids[:end]), begin))
            cycles, kept = 0, []
            for ids, begin in rows:
                known = ids[: begin + 1].tolist()
                while len(known) < len(ids):
                    right = 0
                    for drafted, said in zip(guess(network, drafter, known), ids[len(known) :].tolist()):
                        if drafted != said:
                            break
                        right += 1
                    cycles, kept = cycles + 1, [*kept, right]
                    known = ids[: len(known) + right + 1].tolist()
            self.assertGreater(max(kept), 1)
            if kind == "mtp":
                expected = [sum(k > d for k in kept) / cycles for d in range(mtp.DEPTH)]
                self.assertEqual(mtp.acceptance(network, rows, 0), expected)
            else:
                self.assertEqual(dflash.accepted(network, drafter, rows, 3), sum(kept) / cycles)

    @torch.no_grad()
    def head_guesses(self, network, _, ids):
        """What the MTP head makes of known tokens: one guess after the other, each from the one before."""
        head, ids, made = network.mtp, list(ids), []
        given = network.hidden(torch.tensor([ids[:-1]]))
        for _ in range(mtp.DEPTH):
            joined = head.join(given, network.embed(torch.tensor([ids[1:]])))
            m = head.norm(head.layer(joined))[:, -1:]
            made.append(network.logits(m).argmax(-1).item())
            given, ids = torch.cat([given, m], 1), [*ids, made[-1]]
        return made

    @torch.no_grad()
    def block_guesses(self, network, drafter, ids):
        logits = dflash.guesses(network, drafter, torch.tensor([ids]), torch.tensor([[len(ids) - 1]]), 3)
        return logits[0, 0].argmax(-1).tolist()

    def test_a_block_sees_what_is_before_its_anchor_and_itself(self):
        network, drafter = model.Model().eval(), dflash.Drafter()
        ids, anchors = torch.randint(0, model.VOCAB, (1, 40)), torch.tensor([[9, 20]])
        with torch.no_grad():
            expected = dflash.guesses(network, drafter, ids, anchors, 3)
            for anchor, logits in zip((9, 20), expected[0]):
                alone = dflash.guesses(network, drafter, ids[:, : anchor + 1], torch.tensor([[anchor]]), 3)
                torch.testing.assert_close(alone[0, 0], logits, rtol=1e-3, atol=1e-3)


if __name__ == "__main__":
    unittest.main()
