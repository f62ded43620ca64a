import { accented } from "../src/language/pseudo";
import { speakInDisguise } from "../src/language/text";

/** Names and units, which all languages share. */
const NAMES =
  /\b(?:Foretoken|MTP|DFlash|Qwen\S*|MLX|Metal|Apple|GitHub|Hugging|Face|Hub|LM Studio|Ollama|OpenAI|Anthropic|JSON|HTML|PDF|CSV|Markdown|API|GPU|CPU|tok|top-[kp]|min-p|Ctrl|Alt|Shift|Esc|Enter|Tab|Space|Home|End|Page|Up|Down|Delete|Backspace|localhost|https?|bfloat\d+|KL|English|Deutsch)\b/g;

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
    if (!node.parentElement?.closest("pre, code, .markdown, style, script, textarea, [lang]:not(html)"))
      shown.add(node.textContent ?? "");
  for (const element of document.body.querySelectorAll(
    "[aria-label], [title], [placeholder], [aria-description]",
  ))
    for (const name of ["aria-label", "title", "placeholder", "aria-description"])
      shown.add(element.getAttribute(name) ?? "");
  return [...shown].filter((text) =>
    (text.replace(NAMES, "").match(/[A-Za-z]{3,}/g) ?? []).some((word) => !said.includes(word)),
  );
}
