import type { OtherMacs, RingView, SpreadOutlook } from "../../src/bridge/bindings";
import { lendingOf, mini, otherMacs, PARTS, RING, studio } from "../../src/macs/samples";
import { fitOf, local } from "../../src/models/samples";
import { ago, clock, MINUTE } from "../clock";

/** None is paired, and nobody may use this one. */
export const MACS: OtherMacs = otherMacs();

export const HUGE = "/Users/anna/Library/Application Support/Foretoken/models/Qwen3.5-397B-A17B-4bit";

/** A model that no single Mac holds. */
export const HUGE_MODEL = local(HUGE, {
  name: "Qwen3.5 397B-A17B",
  repo: "Qwen/Qwen3.5-397B-A17B",
  disk_bytes: 223e9,
  parameters: 397e9,
  fit: fitOf("too_big", 231e9, 48e9),
});

/** One lends itself and holds most of a model, one does not answer, and one may use this one. */
export const MACS_PAIRED: OtherMacs = otherMacs({
  paired: [
    mini(),
    studio(),
    studio({
      key: "key-office",
      name: "Office",
      address: "office.local:7421",
      link: null,
      state: {
        state: "away",
        error: {
          code: "peer_unreachable",
          message: "office.local:7421 cannot be reached: connection refused.",
          hint: "Check that the other Mac is on, in the same network, and lends itself, and that the address is right.",
        },
      },
    }),
  ],
  spread: [{ path: HUGE, parts: PARTS }],
});

/** Two people compare digits. */
export const macsPairing = (): OtherMacs =>
  otherMacs({
    paired: [studio()],
    near: [{ name: "Mac mini", address: "mac-mini.local:7421" }],
    pairing: {
      stage: "compare",
      name: "Mac mini",
      digits: "418207",
      until: clock.now() + 102_000,
      borrows: false,
      confirmed: false,
    },
  });

/** Another Mac computes here. */
export const MACS_LENDING: OtherMacs = otherMacs({
  paired: [mini({ name: "Studio", key: "key-studio" })],
  lending: lendingOf({
    in_use: { key: "c".repeat(64), mac: "Studio", model: "Qwen3.5-122B", since: ago(40 * MINUTE) },
  }),
});

export const FITS: SpreadOutlook = {
  outlook: "fits",
  spreading: { parts: PARTS, context: 65_536, tokens_per_second: 26.4 },
  left_out: [],
};

export const MACS_RING: RingView = RING;
