import { accented } from "../src/language/pseudo";
import { speakInDisguise } from "../src/language/text";

/** Names and units, which all languages share. */
const NAMES =
  /\b(?:Foretoken|MTP|DFlash|Qwen\S*|MLX|Metal|Apple|GitHub|Hugging|Face|Hub|huggingface\.co|OpenAI|Anthropic|JSON|HTML|PDF|PNG|CSV|Markdown|API|GPU|CPU|tok|bit|top-[kp]|min-p|Ctrl|Alt|Shift|Esc|Enter|Tab|Space|Home|End|Page|Up|Down|Delete|Backspace|localhost|https?|bfloat\d+|KL|English|Deutsch)\b/g;
/** What the runtime says of a language: dates, lists and large numbers. */
const BY_THE_RUNTIME =
  /\b(?:and|[mb]illion|(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?|Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:tember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b/g;
/** What others have called something: files, and whatever stands in quotes. And examples of what is typed. */
const CALLED = /“[^”]*”|\S[\w ]*\.(?:png|pdf|xlsx)\b|\{\{.*\}\}|https:\S+|gemini-\*/g;
/** Where the page shows others' words. */
const OTHERS =
  "pre, code, kbd, .markdown, style, script, textarea, [translate='no'], [lang]:not(html), [data-testid='waiting'], [data-testid='copy-snippet']";

/** Lets the page say everything in letters of its own, from right to left: what has none of them is no text of it. */
export function disguise(): void {
  speakInDisguise(accented);
  document.documentElement.dir = "rtl";
}

/** What is shown, or told by a screen reader, in plain letters and is not in what the shell has said. */
export function undisguised(said: string): string[] {
  const shown = new Set<string>();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode())
    if (!node.parentElement?.closest(OTHERS)) shown.add(node.textContent ?? "");
  for (const name of ["aria-label", "title", "placeholder", "aria-description"])
    for (const element of document.body.querySelectorAll(`[${name}]`))
      if (!element.closest(OTHERS)) shown.add(element.getAttribute(name) ?? "");
  const plain = (text: string) =>
    text
      .replace(CALLED, "")
      .replace(BY_THE_RUNTIME, "")
      .replace(NAMES, "")
      .match(/[A-Za-z]{3,}/g) ?? [];
  return [...shown].filter((text) => plain(text).some((word) => !said.includes(word)));
}
