/**
 * A word without case and accents, or a single character of a script that writes words together. `from` and `to` are
 * where it stands in the text.
 */
export interface Term {
  folded: string;
  from: number;
  to: number;
}

/** Longer words are cut into several. */
const LONGEST = 64;
/** So many characters are remembered as they fold. */
const REMEMBERED = 4096;

const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });
const ALPHANUMERIC = /^[\p{Alphabetic}\p{N}]$/u;

/** Accents and vowel points that people leave out when they type: Latin, Greek and Cyrillic, Hebrew, Arabic. */
const ACCENT =
  /[\u{300}-\u{36F}\u{1AB0}-\u{1AFF}\u{1DC0}-\u{1DFF}\u{20D0}-\u{20FF}\u{FE20}-\u{FE2F}\u{591}-\u{5BD}\u{5BF}\u{5C1}\u{5C2}\u{5C4}\u{5C5}\u{5C7}\u{610}-\u{61A}\u{640}\u{64B}-\u{65F}\u{670}]/gu;

/** Scripts that have no spaces between words, or whose words are found by their parts. */
const ALONE =
  /^[\u{E00}-\u{EFF}\u{1000}-\u{109F}\u{1780}-\u{17FF}\u{3040}-\u{312F}\u{31A0}-\u{31BF}\u{31F0}-\u{31FF}\u{3005}-\u{3007}\u{3400}-\u{4DBF}\u{4E00}-\u{9FFF}\u{F900}-\u{FAFF}\u{20000}-\u{3FFFF}\u{AC00}-\u{D7AF}]$/u;

/** Letters that Unicode does not take apart, but people without the key type so. */
const PLAIN: Record<string, string> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ı: "i",
  ς: "σ",
};

/** What a letter of a folded character does: it goes on with a word, is one by itself, belongs to one, or ends one. */
type Kind = "letter" | "alone" | "mark" | "other";
type Folded = { letter: string; kind: Kind }[];

const folds = new Map<string, Folded>();

/** The letters of a character as people see it, without case, accents and differences of form only. */
function fold(grapheme: string): Folded {
  const known = folds.get(grapheme);
  if (known) return known;
  // Each letter by itself, so that none is changed by where it stands.
  const lower = Array.from(grapheme.normalize("NFKD"), (letter) => letter.toLowerCase()).join("");
  // Marks that are not accents, as the voicing of kana, make one letter again.
  const composed = lower.replace(ACCENT, "").normalize("NFC");
  const folded = Array.from(composed)
    .flatMap((letter) => Array.from(PLAIN[letter] ?? letter))
    .map((letter) => ({ letter, kind: kindOf(letter) }));
  if (folds.size >= REMEMBERED) folds.clear();
  folds.set(grapheme, folded);
  return folded;
}

function kindOf(letter: string): Kind {
  if (ALPHANUMERIC.test(letter)) return ALONE.test(letter) ? "alone" : "letter";
  const isMark = letter > "\x7f" && [...GRAPHEMES.segment(`a${letter}`)].length === 1;
  return isMark ? "mark" : "other";
}

/**
 * The words of a text, in order, as the store's search reads them: what that finds is marked, and nothing else. The
 * same examples hold for both: `examples.json` beside the search of the store.
 */
export function termsOf(text: string): Term[] {
  const terms: Term[] = [];
  /** The word that is being read, and how many letters it has. */
  let word: Term | null = null;
  let length = 0;
  const end = () => {
    if (word) terms.push(word);
    word = null;
    length = 0;
  };
  const grow = (letter: string, from: number, to: number) => {
    if (length === LONGEST) end();
    word ??= { folded: "", from, to };
    word.folded += letter;
    word.to = to;
    length += 1;
  };
  const readPlain = (at: number) => {
    const unit = text.charCodeAt(at);
    if (isAsciiLetter(unit)) grow(String.fromCharCode(isUpper(unit) ? unit + 32 : unit), at, at + 1);
    else end();
  };
  const read = (from: number, grapheme: string) => {
    const to = from + grapheme.length;
    if (grapheme.length === 1 && isAscii(text, from)) return readPlain(from);
    for (const { letter, kind } of fold(grapheme)) {
      if (kind === "alone") {
        end();
        terms.push({ folded: letter, from, to });
      } else if (kind === "letter") grow(letter, from, to);
      else if (kind === "other") end();
    }
  };
  for (let at = 0; at < text.length; ) {
    if (isAscii(text, at) && isAscii(text, at + 1)) {
      readPlain(at);
      at += 1;
      continue;
    }
    // Characters of several units are looked for only here, with one plain character before and behind them.
    let stretch = at + 1;
    while (stretch < text.length && !(isAscii(text, stretch) && isAscii(text, stretch + 1))) stretch += 1;
    stretch = Math.min(stretch + 1, text.length);
    for (const { segment, index } of GRAPHEMES.segment(text.slice(at, stretch))) read(at + index, segment);
    at = stretch;
  }
  end();
  return terms;
}

/** Whether a unit is a plain character; what is behind the end counts as one. */
const isAscii = (text: string, at: number): boolean => at >= text.length || text.charCodeAt(at) < 0x80;

const isUpper = (unit: number): boolean => unit >= 0x41 && unit <= 0x5a;

const isAsciiLetter = (unit: number): boolean =>
  isUpper(unit) || (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x30 && unit <= 0x39);
