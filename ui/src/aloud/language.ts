/**
 * Letters that tell of a language by themselves, those first that stand among letters of others, and how large a share
 * of all letters says so.
 */
const LETTERS: [string, RegExp, number][] = [
  ["ja", /[\p{Script=Hiragana}\p{Script=Katakana}]/gu, 0.15],
  ["ko", /\p{Script=Hangul}/gu, 0.15],
  ["zh", /\p{Script=Han}/gu, 0.15],
  ["uk", /[іїєґ]/giu, 0.02],
  ["ru", /\p{Script=Cyrillic}/gu, 0.15],
  ["el", /\p{Script=Greek}/gu, 0.15],
  ["ar", /\p{Script=Arabic}/gu, 0.15],
  ["he", /\p{Script=Hebrew}/gu, 0.15],
  ["hi", /\p{Script=Devanagari}/gu, 0.15],
  ["th", /\p{Script=Thai}/gu, 0.15],
];

/** Short words that texts of a language are full of. */
const WORDS: Record<string, RegExp> = {
  en: /^(?:the|and|of|to|is|that|it|with|for|are|this|you)$/,
  de: /^(?:der|die|und|das|ist|nicht|ein|eine|mit|den|zu|auch)$/,
  fr: /^(?:le|la|les|et|est|des|une|que|pour|dans|pas|vous)$/,
  es: /^(?:el|los|y|es|una|que|para|por|con|las|del|como)$/,
  it: /^(?:il|di|che|è|un|per|non|gli|con|della|sono|anche)$/,
  pt: /^(?:o|os|é|um|uma|que|para|não|com|em|do|também)$/,
  nl: /^(?:de|het|een|en|van|is|dat|niet|met|voor|ook|zijn)$/,
};

/** Fewer of its words than this say nothing of a language. */
const LEAST_WORDS = 2;

/** The language that a text is most likely in, or `otherwise` where it does not say: `de`, `ja`. */
export function languageOf(text: string, otherwise: string): string {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const told = LETTERS.find(([, own, share]) => (text.match(own)?.length ?? 0) > share * letters);
  if (told) return told[0];
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const counted = Object.entries(WORDS).map(([language, known]): [string, number] => [
    language,
    words.filter((word) => known.test(word)).length,
  ]);
  const [best = ["", 0]] = counted.sort(([, one], [, other]) => other - one);
  return best[1] >= LEAST_WORDS ? best[0] : (otherwise.split("-")[0] ?? otherwise);
}
