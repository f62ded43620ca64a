/** Ranges of characters that nobody sees, or that move others about: the same as the shell has (`result_text.rs`). */
const INVISIBLE: readonly (readonly [number, number])[] = [
  // Controls, but for tabs and newlines.
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  // The soft hyphen.
  [0xad, 0xad],
  // Marks of direction, and blank letters and marks.
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  // Zero-width spaces, joiners and marks of direction; separators of lines; embeddings and overrides.
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  // Invisible operators, isolates and formats given up.
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  // Halves of pairs that stand alone.
  [0xd800, 0xdfff],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff9, 0xfffb],
  // Formats of musical notes.
  [0x1d173, 0x1d17a],
  // Tags and the supplement of selectors, in which whole texts can be hidden.
  [0xe0000, 0xe007f],
  [0xe0100, 0xe01ef],
];

const JOINER = 0x200d;

/** Whether this selects the form of the character before it, as emoji do. */
const isSelector = (code: number): boolean => code >= 0xfe00 && code <= 0xfe0f;

/** Whether this is a character that emoji are joined of, skin tones among them. */
const isEmoji = (code: number): boolean =>
  (code >= 0x2190 && code <= 0x2bff) || (code >= 0x1f000 && code <= 0x1faff);

/** A stretch of a text, or a character in it that nobody would see. */
export interface Piece {
  text: string;
  hidden: boolean;
}

/** A text in pieces, each hidden character by itself. Joiners within emoji are not hidden. */
function split(text: string): Piece[] {
  const found: Piece[] = [];
  let plain = "";
  const characters = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  /** The last character, and the last one that selects no form. */
  let [before, base] = [0, 0];
  characters.forEach((code, at) => {
    if (isHidden(code, before, base, characters[at + 1], at === 0)) {
      if (plain !== "") found.push({ text: plain, hidden: false });
      plain = "";
      found.push({ text: String.fromCodePoint(code), hidden: true });
    } else plain += String.fromCodePoint(code);
    before = code;
    if (!isSelector(code)) base = code;
  });
  if (plain !== "") found.push({ text: plain, hidden: false });
  return found;
}

function isHidden(
  code: number,
  before: number,
  base: number,
  next: number | undefined,
  first: boolean,
): boolean {
  if (code === JOINER) return before === JOINER || !isEmoji(base) || next === undefined || !isEmoji(next);
  // One selects a form of the character before it; more of them carry data.
  if (isSelector(code)) return first || isSelector(before);
  return INVISIBLE.some(([from, to]) => code >= from && code <= to);
}

/** What a hidden character is drawn as: U+202E is `⟨U+202E⟩`. */
const named = (character: string): string =>
  `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`;

/** A text in pieces, with each hidden character by its name. */
export const pieces = (text: string): Piece[] =>
  split(text).map((piece) => (piece.hidden ? { ...piece, text: named(piece.text) } : piece));

/** A text with what `draw` makes of each of its hidden characters. */
export const withHidden = (text: string, draw: (character: string) => string): string =>
  split(text)
    .map((piece) => (piece.hidden ? draw(piece.text) : piece.text))
    .join("");

/** A text in which nothing is hidden. */
export const visible = (text: string): string => withHidden(text, named);

/** How many characters of a text nobody would see. */
export const hiddenIn = (text: string): number => split(text).filter(({ hidden }) => hidden).length;
