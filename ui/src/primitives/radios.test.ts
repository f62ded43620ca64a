import { describe, expect, it } from "vitest";
import { radios, rovingIndex } from "./radios";

describe("a group of radio buttons", () => {
  it("is walked with the arrow keys, round its ends", () => {
    expect(rovingIndex("ArrowDown", 0, 3)).toBe(1);
    expect(rovingIndex("ArrowRight", 2, 3)).toBe(0);
    expect(rovingIndex("ArrowUp", 0, 3)).toBe(2);
    expect(rovingIndex("ArrowLeft", 2, 3)).toBe(1);
  });

  it("leaves every other key alone", () => {
    for (const key of ["Enter", " ", "Tab", "Escape", "a"]) expect(rovingIndex(key, 0, 3)).toBeNull();
    expect(rovingIndex("ArrowDown", 0, 0)).toBeNull();
  });

  it("has one button that Tab leads to: the checked one, or the first", () => {
    const stops = (checked: number) => {
      const { radio } = radios("Size", checked, () => {});
      return [0, 1, 2].map((index) => radio(index).tabIndex);
    };
    expect(stops(1)).toEqual([-1, 0, -1]);
    expect(stops(-1)).toEqual([0, -1, -1]);
  });
});
