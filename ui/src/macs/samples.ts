import type { OtherMacs, PairedMac, RingView, SpreadPart } from "../bridge/bindings";
import { NO_MACS } from "../state/server";

// What the tests of this folder and the pictures are about, each with what does not matter filled in.

/** A Mac that lends itself and answers. */
export const studio = (more: Partial<PairedMac> = {}): PairedMac => ({
  key: "key-studio",
  name: "Studio",
  address: "studio.local:7421",
  lends: true,
  borrows: false,
  state: { state: "here", chip: "Apple M3 Ultra", free_bytes: 205e9, models: 4 },
  link: {
    round_trip_ms: 0.2,
    sent_per_second: 3.1e9,
    received_per_second: 2.9e9,
    measured_at: 0,
  },
  ...more,
});

/** A Mac that may use this one. */
export const mini = (more: Partial<PairedMac> = {}): PairedMac => ({
  key: "key-mini",
  name: "Mac mini",
  address: null,
  lends: false,
  borrows: true,
  state: { state: "unknown" },
  link: null,
  ...more,
});

export const PARTS: SpreadPart[] = [
  { key: null, name: "MacBook Pro", layers: 11, bytes: 42e9, usable_bytes: 48e9 },
  { key: "key-studio", name: "Studio", layers: 49, bytes: 181e9, usable_bytes: 205e9 },
];

export const otherMacs = (more: Partial<OtherMacs> = {}): OtherMacs => ({
  ...NO_MACS,
  name: "MacBook Pro",
  chip: "Apple M4 Max",
  usable_bytes: 48e9,
  ...more,
});

/** It lends itself. */
export const lendingOf = (more: Partial<OtherMacs["lending"]> = {}): OtherMacs["lending"] => ({
  ...NO_MACS.lending,
  settings: { ...NO_MACS.lending.settings, on: true },
  address: "macbook-pro.local:7421",
  ...more,
});

export const RING: RingView = {
  macs: [
    { name: "MacBook Pro", layers: 28, bytes: 31e9, step_ms: 12.4 },
    { name: "Studio", layers: 36, bytes: 40e9, step_ms: 8.1 },
  ],
  link_ms: 0.4,
};
