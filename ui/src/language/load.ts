import type { Language } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { speak } from "./text";

/** The texts of each language, read only where it is spoken. */
const LANGUAGES: Record<Language, () => Promise<{ default: string[] }>> = {
  en: () => import("./en"),
  de: () => import("./de"),
  zh: () => import("./zh"),
  ja: () => import("./ja"),
};

/** What formats numbers and dates and chooses the forms of characters. */
const LOCALES: Record<Language, string> = { en: "en", de: "de", zh: "zh-Hans", ja: "ja" };

/** The language that this page speaks. */
let spoken: Language = "en";

const preferred = (): Promise<Language> => shell.language().catch(() => spoken);

/** Lets the page speak the language that the app speaks. */
export async function speakPreferred(): Promise<void> {
  spoken = await preferred();
  try {
    const { default: sources } = await LANGUAGES[spoken]();
    speak(LOCALES[spoken], sources);
    document.documentElement.lang = LOCALES[spoken];
  } catch (error) {
    // A page of names is better than none.
    console.error(error);
  }
}

/** Begins the page again where the app speaks another language by now; `keep` keeps what was typed. */
export async function followLanguage(keep: () => Promise<unknown>): Promise<void> {
  if ((await preferred()) === spoken) return;
  try {
    await keep();
  } catch (error) {
    // Rather another language a little later than words that are lost.
    console.warn(error);
    return;
  }
  location.reload();
}
