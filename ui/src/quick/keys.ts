import type { QuickKey } from "../bridge/bindings";
import { t } from "../language/text";

/** The keys that can bring up the quick panel, as people write them. */
export const quickKeys = (): (readonly [QuickKey, string])[] => [
  ["off", t("quick-keys-off")],
  ["alt_space", t("quick-keys-alt-space")],
  ["control_alt_space", t("quick-keys-control-alt-space")],
  ["shift_command_space", t("quick-keys-shift-command-space")],
];

/** The keys that bring it up; null where there are none. */
export const quickKeyLabel = (key: QuickKey): string | null =>
  key === "off" ? null : (quickKeys().find(([id]) => id === key)?.[1] ?? null);
