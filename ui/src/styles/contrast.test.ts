import { blend, type Color, differenceEuclidean, parse, wcagContrast } from "culori";
import { describe, expect, it } from "vitest";
import css from "./tokens.css?raw";

/** The roles of a rule of `css` and what they are there. */
const rolesOf = (rule: string): Map<string, string> =>
  new Map(
    [...rule.matchAll(/--([\w-]+):\s*([^;]+);/g)].map(([, name, value]) => [name as string, value as string]),
  );

const [always, dark] = css.split("@media (prefers-color-scheme: dark)") as [string, string];
const LIGHT = rolesOf(always);
const DARK = new Map([...LIGHT, ...rolesOf(dark.split("@media")[0] as string)]);

/** The roles with what was guessed in each of its colours. */
const HUES = ["violet", "teal", "orange", "pink"].map((hue) => {
  const rule = css.split(`[data-hue="${hue}"] {`)[1]?.split("}")[0] ?? "";
  return { hue, roles: rolesOf(rule) };
});

/** A role's colour on opaque `ground`. */
function colour(roles: Map<string, string>, role: string, ground?: Color): Color {
  const written = (roles.get(role) ?? "")
    // What holds where the system has no accent.
    .replaceAll(/var\(--[\w-]+, (#\w+)\)/g, "$1")
    .replaceAll(/var\(--([\w-]+)\)/g, (_, name) => roles.get(name) ?? "")
    .replaceAll(/calc\(([\d.]+) \* ([\d.]+)\)/g, (_, a, b) => String(Number(a) * Number(b)));
  const found = parse(written);
  if (!found) throw new Error(`--${role} is no colour`);
  return ground ? blend([ground, found]) : found;
}

/** Texts that are read, and what they stand on. */
const TEXT: [texts: string[], grounds: string[]][] = [
  [
    ["text-1", "text-2", "text-3"],
    ["ground", "side", "raised", "sunken", "field"],
  ],
  [["text-1", "text-2"], ["bubble"]],
  [["text-1", "text-2"], ["selected"]],
  [
    ["accent", "positive", "warn", "danger", "system"],
    ["ground", "raised"],
  ],
  [["positive"], ["positive-soft"]],
  [["warn"], ["warn-soft"]],
  [["danger", "text-2"], ["danger-soft"]],
  [["text-on-ink"], ["ink", "ink-hover"]],
  [["knob"], ["system-fill"]],
  [["text-1"], ["mark", "chosen"]],
  [["code-keyword", "code-string", "code-number", "code-title", "code-comment"], ["sunken"]],
];

const THEMES = HUES.flatMap(({ hue, roles }): [string, Map<string, string>][] => [
  [`light, ${hue}`, new Map([...LIGHT, ...roles])],
  [`dark, ${hue}`, new Map([...DARK, ...roles])],
]);

describe.each(THEMES)("in the %s", (_, roles) => {
  const on = (text: string, ground: string): number =>
    wcagContrast(colour(roles, text, colour(roles, ground)), colour(roles, ground));

  it("every text has at least 4.5 to 1 on all that it stands on", () => {
    const least = TEXT.flatMap(([texts, grounds]) =>
      texts.flatMap((text) =>
        grounds.map((ground) => ({ pair: `${text} on ${ground}`, is: on(text, ground) })),
      ),
    );
    expect(least.filter(({ is }) => is < 4.5)).toEqual([]);
  });

  it("words that were guessed have it on their tints", () => {
    for (const ground of ["ground", "sunken"])
      for (const tint of ["tint-1", "tint-2", "tint-3"]) {
        const behind = colour(roles, tint, colour(roles, ground));
        expect(wcagContrast(colour(roles, "text-1"), behind), `${tint} on ${ground}`).toBeGreaterThan(4.5);
      }
  });

  it("code, which lets the tints behind it through, looks sunken", () => {
    const [veiled, sunken] = [colour(roles, "sunken-veil", colour(roles, "ground")), colour(roles, "sunken")];
    expect(differenceEuclidean("oklab")(veiled, sunken)).toBeLessThan(0.005);
  });

  it("edges that must be seen and the focus ring have 3 to 1", () => {
    for (const ground of ["ground", "side", "field"]) {
      expect(on("control-line", ground), ground).toBeGreaterThan(3);
      const behind = colour(roles, ground);
      const ring = blend([behind, { ...colour(roles, "focus"), alpha: 0.75 }]);
      expect(wcagContrast(ring, behind), `ring on ${ground}`).toBeGreaterThan(3);
    }
  });

  it("what was guessed can be told from the model's own words and from what was wrong", () => {
    expect(on("guess-3", "ground")).toBeGreaterThan(3);
    for (const guess of ["guess-1", "guess-2", "guess-3"])
      expect(wcagContrast(colour(roles, guess), colour(roles, "guess-track")), guess).toBeGreaterThan(1.4);
  });
});
