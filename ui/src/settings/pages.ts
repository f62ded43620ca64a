import type { SettingsPage } from "../bridge/bindings";
import { t } from "../language/text";
import type { IconName } from "../primitives/icons";

/** The pages of the settings, in their order. */
export const PAGES: readonly { id: SettingsPage; icon: IconName }[] = [
  { id: "general", icon: "sliders" },
  { id: "appearance", icon: "sun" },
  { id: "replies", icon: "bubble" },
  { id: "prompts", icon: "write" },
  { id: "models", icon: "memory" },
  { id: "tools", icon: "wrench" },
  { id: "local_api", icon: "plug" },
  { id: "other_macs", icon: "link" },
  { id: "data", icon: "lock" },
  { id: "keyboard", icon: "keyboard" },
  { id: "diagnostics", icon: "activity" },
  { id: "notices", icon: "scales" },
];

/** What a page is called. */
export function pageName(id: SettingsPage): string {
  switch (id) {
    case "general":
      return t("settings-page.general");
    case "appearance":
      return t("settings-page.appearance");
    case "replies":
      return t("settings-page.replies");
    case "prompts":
      return t("prompts-page");
    case "models":
      return t("settings-page.models");
    case "tools":
      return t("settings-tools");
    case "local_api":
      return t("settings-page.local-api");
    case "other_macs":
      return t("macs-page");
    case "data":
      return t("settings-page.data");
    case "keyboard":
      return t("settings-page.keyboard");
    case "diagnostics":
      return t("settings-page.diagnostics");
    case "notices":
      return t("settings-page.notices");
  }
}
