/** A piece has so many characters at most. */
const PIECE = 4096;

/** Whether a text has more than one piece. */
export const isLong = (text: string): boolean => text.length > PIECE;

/** A text in pieces: cut where a line ends, or else after a space, or else between two characters. */
export function cut(text: string): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end =
      text.length - start <= PIECE ? text.length : start + lengthOf(text.slice(start, start + PIECE));
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

/** How much of a piece that is too long goes into it. */
function lengthOf(piece: string): number {
  const line = piece.lastIndexOf("\n") + 1;
  if (line > 0) return line;
  const word = piece.search(/\s\S*$/) + 1;
  if (word > 0) return word;
  return /[\ud800-\udbff]$/.test(piece) ? piece.length - 1 : piece.length;
}
