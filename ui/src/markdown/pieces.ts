/** A paragraph of so many characters is read as a whole, if it has not too many marks. */
const LONGEST = 8_000;
/** So many characters that may be marks are read together. What they mean is looked for among all that follow them. */
const MOST_MARKS = 1_500;
/** What one counts that follows two of the same: where any of them begins something, all the others are looked at. */
const REPEATED = 4;
/** A piece ends at a space that is no further than this from where it must end. */
const NEAR = 200;

const MARK = /[!#$&(*+/<=>@[\\\]^_`{|}~]/;

/**
 * `text` in pieces that can be read one by one in a bounded time: the time that marks take grows with the square of
 * their number. What people and models write is one piece; in the others, nothing reaches over the end of a piece.
 */
export function pieces(text: string): string[] {
  const found: string[] = [];
  let [start, marks] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    marks += weight(text[at] as string, text[at - 1] === text[at] && text[at - 2] === text[at]);
    if (marks < MOST_MARKS && at - start < LONGEST) continue;
    const end = endNear(text, start, at);
    found.push(text.slice(start, end));
    [start, marks, at] = [end, 0, end - 1];
  }
  if (start < text.length || found.length === 0) found.push(text.slice(start));
  return found;
}

function weight(char: string, repeated: boolean): number {
  if (char === " " || char === "\t") return repeated ? REPEATED : 0;
  if (!MARK.test(char)) return 0;
  return repeated ? REPEATED : 1;
}

/** Where a piece ends that must end at `at`: behind a space or between two characters. */
function endNear(text: string, start: number, at: number): number {
  for (let end = at; end > Math.max(start, at - NEAR); end -= 1) {
    if (/\s/.test(text[end - 1] as string)) return end;
  }
  const isHalf = /[\uD800-\uDBFF]/.test(text[at - 1] as string);
  return Math.max(isHalf ? at - 1 : at, start + 1);
}
