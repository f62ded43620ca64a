// @vitest-environment happy-dom
import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { LiveReply } from "../state/server";
import { LiveLine } from "./LiveLine";

/** A reply that is written, after these passes. */
const written = (passes: number[]): LiveReply => ({
  chat: 1,
  thinking: "",
  answer: "An owl",
  ahead: null,
  reading: null,
  stats: { tokens_per_second: 50, tokens_per_pass: 1.8, acceptance: 0.8, passes },
  steps: [],
  calling: null,
  thinkingSince: null,
  thoughtSeconds: null,
  before: { thinking: 0, answer: 0 },
  provenance: { thinking: [], answer: [] },
});

/** Whether somebody wants less to move. */
function wantsStill(matches: boolean) {
  return vi.spyOn(window, "matchMedia").mockReturnValue({ matches } as MediaQueryList);
}

const squares = () => screen.getByTestId("pulse").querySelectorAll("rect").length;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it("shows each pass at once, and asks only once whether less is to move", () => {
  const asked = wantsStill(false);
  const { rerender } = render(<LiveLine live={written([0])} />);
  expect(squares()).toBe(1);
  rerender(<LiveLine live={written([0, 1])} />);
  expect(squares()).toBe(3);
  rerender(<LiveLine live={written([0, 1, 2])} />);
  expect(squares()).toBe(6);
  expect(asked).toHaveBeenCalledOnce();
  expect(vi.getTimerCount(), "only how far a prompt is read waits").toBe(1);
});

it("changes the pulse once a second for those who want less to move", () => {
  wantsStill(true);
  const { rerender } = render(<LiveLine live={written([0])} />);
  rerender(<LiveLine live={written([0, 1])} />);
  act(() => vi.advanceTimersByTime(900));
  expect(squares()).toBe(1);
  act(() => vi.advanceTimersByTime(200));
  expect(squares()).toBe(3);
});
