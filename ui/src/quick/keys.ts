import type { QuickKey } from "../bridge/bindings";
import { MAC } from "../primitives/platform";

/** The keys that can bring up the quick panel, as people write them. */
export const QUICK_KEYS: (readonly [QuickKey, string])[] = [
  ["off", "None"],
  ["alt_space", MAC ? "⌥Space" : "Alt+Space"],
  ["control_alt_space", MAC ? "⌃⌥Space" : "Ctrl+Alt+Space"],
  ["shift_command_space", MAC ? "⇧⌘Space" : "Ctrl+Shift+Space"],
];

/** The keys that bring it up; null where there are none. */
export const quickKeyLabel = (key: QuickKey): string | null =>
  key === "off" ? null : (QUICK_KEYS.find(([id]) => id === key)?.[1] ?? null);
