import { parse, wcagContrast } from "culori";
import { describe, expect, it } from "vitest";
import tokens from "../styles/tokens.css?raw";
import { systemColours } from "./systemColours";

/** The accents of macOS: blue, purple, pink, red, orange, yellow, green, graphite. */
const ACCENTS = ["#007aff", "#a550a7", "#f74f9e", "#ff5257", "#f7821b", "#ffc600", "#62ba46", "#8c8c8c"];

/** What a role of `tokens.css` is in the light and in the dark. */
function role(name: string): { light: string; dark: string } {
  const [light, dark] = [...tokens.matchAll(new RegExp(`--${name}: (#[0-9a-f]{6});`, "g"))].map(
    ([, at]) => at,
  );
  if (!light || !dark) throw new Error(`--${name} is no colour in both themes`);
  return { light, dark };
}
const GROUNDS = ["ground", "side", "raised", "field"].map(role);

/** A colour at 75 % on another. */
function ring(colour: string, ground: string): string {
  const parts = (one: string) => [1, 3, 5].map((at) => Number.parseInt(one.slice(at, at + 2), 16));
  const [over, under] = [parts(colour), parts(ground)];
  const mixed = over.map((part, at) => Math.round(0.75 * part + 0.25 * (under[at] as number)));
  return `#${mixed.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

describe.each(["light", "dark"] as const)("in the %s", (theme) => {
  it.each(ACCENTS)("%s can be told from what it stands on", (accent) => {
    const colours = systemColours(accent, theme);
    if (colours === null) throw new Error("it is a colour");
    expect(wcagContrast("#ffffff", colours.fill)).toBeGreaterThanOrEqual(4.5);
    for (const { [theme]: ground } of GROUNDS) {
      expect(wcagContrast(colours.system, ground), ground).toBeGreaterThanOrEqual(4.5);
      expect(wcagContrast(ring(colours.focus, ground), ground), ground).toBeGreaterThanOrEqual(3);
    }
  });

  it("an accent that can be told stays as it is, and keeps its hue otherwise", () => {
    const own = theme === "light" ? "#0a4fa8" : "#8fc0ff";
    expect(systemColours(own, theme)).toMatchObject({ system: own, focus: own });
    expect(systemColours("#0a4fa8", theme)).toMatchObject({ fill: "#0a4fa8" });
    const green = parse(systemColours("#62ba46", theme)?.system ?? "");
    expect(green?.mode === "rgb" && green.g > green.r && green.g > green.b).toBe(true);
  });
});

it("makes nothing of what is no colour", () => {
  expect(systemColours("blue", "light")).toBeNull();
  expect(systemColours("#12345", "dark")).toBeNull();
});
