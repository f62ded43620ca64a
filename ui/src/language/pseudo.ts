/** Letters that look like others and are wider. */
const ACCENTED: Record<string, string> = {
  a: "á",
  b: "ƀ",
  c: "ç",
  d: "ð",
  e: "é",
  f: "ƒ",
  g: "ĝ",
  h: "ĥ",
  i: "î",
  j: "ĵ",
  k: "ķ",
  l: "ļ",
  m: "ɱ",
  n: "ñ",
  o: "ö",
  p: "þ",
  q: "ǫ",
  r: "ŕ",
  s: "š",
  t: "ţ",
  u: "û",
  v: "ṽ",
  w: "ŵ",
  x: "ẋ",
  y: "ý",
  z: "ž",
};

/** Words that are still read as they were, with no letter left that this page's source could have put there itself. */
export const accented = (text: string): string =>
  // Names of parts stay, as they are no words.
  text.replace(/<\/?\w+>|[a-z]/gi, (found) => {
    if (found.length > 1) return found;
    const letter = ACCENTED[found.toLowerCase()] ?? found;
    return found === found.toLowerCase() ? letter : letter.toUpperCase();
  });
