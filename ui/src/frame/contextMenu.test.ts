import { expect, it } from "vitest";
import { isOn } from "./contextMenu";

it("finds a selection between its lines too, but not beside it", () => {
  const line = (top: number) => ({ left: 100, right: 300, top, bottom: top + 18 });
  const selected = [line(200), line(226)];
  for (const y of [201, 222, 243]) expect(isOn(selected, 150, y)).toBe(true);
  for (const y of [180, 264]) expect(isOn(selected, 150, y)).toBe(false);
  expect(isOn(selected, 310, 210)).toBe(false);
  expect(isOn([], 150, 210)).toBe(false);
});
