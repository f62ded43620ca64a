import { describe, expect, it } from "vitest";
import { Arrivals, anchorOf, STEP } from "./wake";

describe("how far words have faded", () => {
  it("goes by when they came", () => {
    const arrivals = new Arrivals();
    arrivals.grow(4, 0);
    arrivals.grow(7, STEP);
    expect([...arrivals.ages(0, 7, STEP, false)]).toEqual([1, 1, 1, 1, 0, 0, 0]);
    expect([...arrivals.ages(2, 7, 3 * STEP - 1, false)]).toEqual([2, 2, 1, 1, 1]);
    expect([...arrivals.ages(0, 7, 9 * STEP, false)]).toEqual([4, 4, 4, 4, 4, 4, 4]);
  });

  it("goes by how far they are from the newest, however fast they come", () => {
    const arrivals = new Arrivals();
    arrivals.grow(1000, 0);
    const ages = [...arrivals.ages(600, 1000, 0, false)];
    const away = [1, 80, 81, 160, 161, 240, 241, 320, 321];
    expect(away.map((units) => ages.at(-units))).toEqual([0, 0, 1, 1, 2, 2, 3, 3, 4]);
  });

  it("is nothing where nothing is to move", () => {
    const arrivals = new Arrivals();
    arrivals.grow(3, 0);
    expect([...arrivals.ages(0, 3, 99 * STEP, true)]).toEqual([0, 0, 0]);
  });

  it("does not know what was there before", () => {
    expect([...new Arrivals().ages(0, 2, 0, false)]).toEqual([4, 4]);
  });
});

describe("the ends of a text and its rendering", () => {
  const at = (source: string, rendered: string) => {
    const { tail, rendered: drawn } = anchorOf(source, rendered);
    return [source.slice(tail, tail + 12), rendered.slice(drawn, drawn + 12)];
  };

  it("are put beside each other where they first go on alike", () => {
    expect(
      at("nd the lights **came on** one by one, and then", "the lights came on one by one, and then"),
    ).toEqual(["ne by one, a", "ne by one, a"]);
  });

  it("are not mixed up where the same words come again", () => {
    const line = "the same words come again. ";
    expect(anchorOf(line.repeat(4), line.repeat(2)).tail).toBe(2 * line.length);
  });

  it("begin together where they have nothing in common", () => {
    expect(anchorOf("abc", "abcdefghijklmnopqrstuvwxyz")).toEqual({ tail: 0, rendered: 0 });
  });
});
