import type { Action, Keys } from "../bindings";
import { MAC } from "../platform";

/** What belongs to a key event as far as actions go. */
type Pressed = Pick<KeyboardEvent, "key" | "metaKey" | "ctrlKey" | "altKey" | "shiftKey">;

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
  const key = pressed.key.length === 1 ? pressed.key.toLowerCase() : pressed.key;
  return key === keys.key && shift === keys.shift;
}

const SIGNS: Record<string, string> = {
  ArrowUp: "↑",
  ArrowDown: "↓",
  PageUp: "Page Up",
  PageDown: "Page Down",
  Escape: "Esc",
  "-": "−",
};

/** Keys as people write them: `⇧⌘E` on a Mac, `Ctrl+Shift+E` elsewhere. */
export function shown({ command, control, alt, shift, key }: Keys, mac = MAC): string {
  const name = SIGNS[key] ?? key.toUpperCase();
  if (mac) return `${control ? "⌃" : ""}${alt ? "⌥" : ""}${shift ? "⇧" : ""}${command ? "⌘" : ""}${name}`;
  const held = [command && "Ctrl", alt && "Alt", shift && "Shift"];
  return [...held, name].filter(Boolean).join("+");
}
