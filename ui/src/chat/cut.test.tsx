import fc from "fast-check";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { cut, isLong } from "./cut";
import { LongText } from "./LongText";

it("cuts a text into pieces of a bounded size and loses nothing, whatever it is", () => {
  const unit = fc.constantFrom("a", " ", "\n", "owl ", "猫", "🦉", "\ud83e", "é");
  const long = fc.tuple(fc.array(unit, { minLength: 1, maxLength: 20 }), fc.nat(3000));
  fc.assert(
    fc.property(long, ([units, times]) => {
      const text = units.join("").repeat(times);
      const pieces = cut(text);
      expect(pieces.join("") === text).toBe(true);
      expect(pieces.every(({ length }) => 0 < length && length <= 4096)).toBe(true);
      expect(pieces.length > 1).toBe(isLong(text));
    }),
  );
});

it("cuts where a line ends, or else after a space, or else between two characters", () => {
  expect(cut(`${"a b".repeat(1000)}\n${"c".repeat(3000)}`)).toEqual([
    `${"a b".repeat(1000)}\n`,
    "c".repeat(3000),
  ]);
  expect(cut(`${"a".repeat(4000)} ${"b".repeat(4000)}`)).toEqual([`${"a".repeat(4000)} `, "b".repeat(4000)]);
  expect(cut(`a${"🦉".repeat(2048)}`)).toEqual([`a${"🦉".repeat(2047)}`, "🦉"]);
});

it("draws a text of a megabyte without a line break in pieces, and a short one as it is", () => {
  const drawn = renderToStaticMarkup(<LongText text={"a".repeat(1 << 20)} />);
  expect(drawn.match(/<div>a{4096}<\/div>/g)).toHaveLength(256);
  expect(renderToStaticMarkup(<LongText text="Hello!" />)).toBe("Hello!");
});
