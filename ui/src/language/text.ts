import { FluentBundle, type FluentFunction, FluentResource, type FluentVariable } from "@fluent/bundle";
import { MAC } from "../primitives/platform";

/** What stands in a text's place of a name. */
export type Args = Record<string, FluentVariable>;

/** The page's language and what it says in it, which are chosen before anything is drawn and stay for its life. */
let [language, texts] = ["en", new FluentBundle("en")];

/** `{ PLATFORM() }`, by which a text chooses its words for a Mac: `mac`, or else `other`. */
const PLATFORM: FluentFunction = () => (MAC ? "mac" : "other");

/** `{ LOWER($words) }`, words that begin with a capital elsewhere, in the middle of a sentence. */
const LOWER: FluentFunction = ([words]) => String(words).toLowerCase();

/** What changes each piece of text: nothing, but in tests of what is not a text. */
let disguise: ((text: string) => string) | null = null;

/** Lets the page say everything in disguise, so that one sees what it says otherwise. */
export function speakInDisguise(transform: (text: string) => string): void {
  disguise = transform;
}

/** Lets the page speak a language. */
export function speak(locale: string, sources: string[]): void {
  language = locale;
  texts = new FluentBundle(locale, {
    functions: { PLATFORM, LOWER },
    // Isolated, names would hold characters that nobody sees, but that are copied and found.
    useIsolating: false,
    ...(disguise && { transform: disguise }),
  });
  for (const source of sources) texts.addResource(new FluentResource(source));
}

/** The language of the page, by which numbers and dates are formatted. */
export const locale = (): string => language;

/** A text by its name, `name` or `name.attribute`; one that is missing shows its name. */
export function t(id: string, args: Args | null = null): string {
  return lookUp(id, args) ?? id;
}

/** A text by its name; null where this language has none. */
export function lookUp(id: string, args: Args | null = null): string | null {
  const [name = "", attribute] = id.split(".");
  const message = texts.getMessage(name);
  const pattern = attribute === undefined ? message?.value : message?.attributes[attribute];
  // An argument that is missing shows its name; with a list to say it in, nothing is thrown.
  return pattern == null ? null : texts.formatPattern(pattern, args, []);
}
