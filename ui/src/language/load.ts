import type { Language } from "../bridge/bindings";
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

/** Lets the page speak a language. */
export async function speakLanguage(language: Language): Promise<void> {
  const { default: sources } = await LANGUAGES[language]();
  speak(LOCALES[language], sources);
  document.documentElement.lang = LOCALES[language];
}
