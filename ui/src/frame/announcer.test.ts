import { expect, it } from "vitest";
import type { Message, MessageStatus } from "../bridge/bindings";
import { replyStats, replyStep } from "../chat/samples";
import { announcement } from "./Announcer";

const reply = (status: MessageStatus, more: Partial<Message> = {}): Message => ({
  id: 2,
  parent: 1,
  role: "assistant",
  text: "An owl.",
  pictures: [],
  thinking: "",
  steps: [],
  edited: false,
  status,
  stats: replyStats(),
  error: null,
  model: null,
  created_at: 0,
  ...more,
});
const ended = (reason: "stop" | "length" | "cancelled" | "error", more: Partial<Message> = {}) =>
  announcement(reply({ state: "finished", reason }, more));

it("says in one sentence what a reply has gained, where that was measured", () => {
  const plain = { tokens_per_second: 58.3 / 1.9, source: "tune", measured_at: 0 } as const;
  expect(ended("stop", { stats: replyStats({ plain }) })).toBe("Reply finished, 1.9 times plain.");
  expect(ended("stop")).toBe("Reply finished, 58 tokens a second.");
  const steps = [replyStep(0)];
  expect(ended("stop", { steps, stats: replyStats({ plain }) }), "rounds are not compared").toBe(
    "Reply finished, 58 tokens a second.",
  );
  expect(ended("stop", { stats: null })).toBe("Reply finished.");
  expect(ended("stop", { stats: replyStats({ emitted: 0 }) })).toBe("Reply finished.");
});

it("has words of their own for replies that were stopped, cut or failed", () => {
  expect(ended("cancelled")).toBe("Reply stopped.");
  expect(ended("length")).toBe("Reply cut by the token limit.");
  expect(ended("error")).toBe("Reply failed.");
  expect(announcement(reply({ state: "interrupted" }))).toBe("Reply interrupted.");
  expect(announcement(reply({ state: "asking" }))).toBe("Foretoken asks whether a tool may run.");
  expect(announcement(reply({ state: "paused" }))).toBe("The reply rests. Go on, or stop it.");
  expect(announcement(reply({ state: "streaming" }, { stats: null }))).toBe("A reply is being written.");
});
