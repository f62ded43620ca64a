import type { Action, Keys } from "../bridge/bindings";
import { t } from "../language/text";
import { MAC } from "../primitives/platform";

/** What belongs to a key event as far as actions go. */
type Pressed = Pick<KeyboardEvent, "key" | "code" | "metaKey" | "ctrlKey" | "altKey" | "shiftKey">;

/** What a key writes that has a script of its own, and not a Latin one: Cyrillic, Greek, Hebrew… */
const OTHER_SCRIPT = /^[^\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]+$/u;
/** What the signs among the keys of actions are called by their place on an English keyboard. */
const SIGN_CODES: Record<string, string> = {
  Comma: ",",
  Period: ".",
  Slash: "/",
  Minus: "-",
  Equal: "=",
};

/**
 * The key that is pressed, in lower case. Where the layout has no Latin letters, it is named by its place on an English
 * keyboard, as people know shortcuts there; on every other layout, what it writes counts.
 */
function keyOf({ key, code }: Pick<Pressed, "key" | "code">): string {
  if (!OTHER_SCRIPT.test(key)) return key.length === 1 ? key.toLowerCase() : key;
  return /^Key[A-Z]$/.test(code) ? code.slice(3).toLowerCase() : (SIGN_CODES[code] ?? key);
}

/** The keys of an action on this system. */
export const keysOf = (action: Action, mac = MAC): Keys | null => (mac ? action.mac : action.elsewhere);

/** Whether just these keys are pressed. */
export function matches(keys: Keys, pressed: Pressed, mac = MAC): boolean {
  const command = mac ? pressed.metaKey : pressed.ctrlKey;
  const control = mac && pressed.ctrlKey;
  if (command !== keys.command || control !== keys.control || pressed.altKey !== keys.alt) return false;
  if (!mac && pressed.metaKey) return false;
  // Whether a sign needs Shift depends on the keyboard.
  const shift = keys.key.length === 1 && !/[a-z]/.test(keys.key) ? keys.shift : pressed.shiftKey;
  return keyOf(pressed) === keys.key && shift === keys.shift;
}

/** What stands on a key. */
function signOf(key: string): string {
  switch (key) {
    case "ArrowUp":
      return "↑";
    case "ArrowDown":
      return "↓";
    case "PageUp":
      return t("word-key-page-up");
    case "PageDown":
      return t("word-key-page-down");
    case "Escape":
      return "Esc";
    case "-":
      return "−";
    default:
      return key.toUpperCase();
  }
}

/** Keys as people write them: `⇧⌘E` on a Mac, `Ctrl+Shift+E` elsewhere. */
export function formatKeys({ command, control, alt, shift, key }: Keys, mac = MAC): string {
  const name = signOf(key);
  if (mac) return `${control ? "⌃" : ""}${alt ? "⌥" : ""}${shift ? "⇧" : ""}${command ? "⌘" : ""}${name}`;
  const held = [command && t("word-key-control"), alt && "Alt", shift && t("word-key-shift")];
  return [...held, name].filter(Boolean).join("+");
}
