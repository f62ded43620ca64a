import { expect, it } from "vitest";
import { nextArea } from "./areas";

/** The areas that F6 leads to one after the other, from where the focus is. */
function walk(areThere: boolean[], from: number, step: 1 | -1, steps: number): number[] {
  const seen: number[] = [];
  let at = from;
  while (seen.length < steps) {
    at = nextArea(areThere, at, step);
    seen.push(at);
  }
  return seen;
}

it("leads from area to area and round the end", () => {
  const all = [true, true, true, true, true, true];
  expect(walk(all, 4, 1, 6)).toEqual([5, 0, 1, 2, 3, 4]);
  expect(walk(all, 4, -1, 6)).toEqual([3, 2, 1, 0, 5, 4]);
});

it("leaves out what is not there", () => {
  const noPanel = [false, true, true, false, true, false];
  expect(walk(noPanel, 4, 1, 3)).toEqual([1, 2, 4]);
  expect(walk(noPanel, 1, -1, 3)).toEqual([4, 2, 1]);
});

it("begins at the beginning where nothing has the focus, and at the end backwards", () => {
  const some = [false, true, true, false, true, false];
  expect(nextArea(some, -1, 1)).toBe(1);
  expect(nextArea(some, -1, -1)).toBe(4);
});

it("stays where there is nothing else", () => {
  expect(nextArea([false, true, false], 1, 1)).toBe(-1);
  expect(nextArea([false, false], -1, 1)).toBe(-1);
});
