import type { SettingsPage } from "../bridge/bindings";
import type { IconName } from "../primitives/icons";

/** The pages of the settings, in their order. */
export const PAGES: readonly { id: SettingsPage; name: string; icon: IconName }[] = [
  { id: "general", name: "General", icon: "sliders" },
  { id: "appearance", name: "Appearance", icon: "sun" },
  { id: "replies", name: "Replies", icon: "bubble" },
  { id: "prompts", name: "Prompts", icon: "write" },
  { id: "models", name: "Models and memory", icon: "memory" },
  { id: "local_api", name: "Local API", icon: "plug" },
  { id: "data", name: "Privacy and data", icon: "lock" },
  { id: "keyboard", name: "Keyboard", icon: "keyboard" },
  { id: "diagnostics", name: "Diagnostics", icon: "activity" },
  { id: "notices", name: "Third-party notices", icon: "scales" },
];
