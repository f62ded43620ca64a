import { expect, it } from "vitest";
import { mostIn, possibleWidth, widthByKey } from "./SidebarEdge";

it("lets the sidebar be as wide as the window has room for", () => {
  expect([1280, 800, 600, 450, 320].map(mostIn)).toEqual([320, 320, 240, 200, 200]);
  expect(possibleWidth(400)).toBe(320);
  expect(possibleWidth(400, mostIn(600))).toBe(240);
  expect(possibleWidth(10, mostIn(600))).toBe(200);
});

it("moves by keys within that", () => {
  const [least, most] = [200, mostIn(600)];
  expect(widthByKey("ArrowRight", 200, most)).toBe(210);
  expect(widthByKey("ArrowRight", most, most)).toBe(most);
  expect(widthByKey("End", 200, most)).toBe(most);
  expect(widthByKey("Home", 200, most)).toBe(least);
  expect(widthByKey("a", 200, most)).toBe(null);
});
