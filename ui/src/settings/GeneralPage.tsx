import type { Language, QuickKey, UpdateCheck, UpdateState } from "../bridge/bindings";
import { locale, t } from "../language/text";
import { told, why } from "../language/told";
import { sentences } from "../primitives/format";
import { MAC } from "../primitives/platform";
import { quickKeys } from "../quick/keys";
import { useStore } from "../state/store";
import { actInChats, changePreferences } from "./actions";
import { Page } from "./Page";
import { Group, Row, SelectRow, SwitchRow } from "./Row";

/** The languages of the app, each by the name that it has for itself. */
const LANGUAGES: (readonly [Language, string])[] = [
  ["en", "English"],
  ["de", "Deutsch"],
  ["zh", "简体中文"],
  ["ja", "日本語"],
];
/** The choice that leaves it to the system. */
const SYSTEM = "system";

/** The language, and what the app does when nobody looks at it. */
export function GeneralPage() {
  const { language, notifications, keep_running: keepRunning } = useStore((state) => state.preferences);
  return (
    <Page title={t("settings-page.general")} testId="settings-general">
      <Group>
        <SelectRow
          name={t("settings-language")}
          words={t("settings-language.words")}
          value={language ?? SYSTEM}
          options={[[SYSTEM, t("settings-language.system")], ...LANGUAGES]}
          testId="language"
          onChange={(value) => changePreferences({ language: value === SYSTEM ? null : (value as Language) })}
        />
        <SwitchRow
          name={t("settings-notifications")}
          words={t("settings-notifications.words")}
          on={notifications}
          testId="notifications"
          onChange={(notifications) => changePreferences({ notifications })}
        />
        <SwitchRow
          name={t("settings-keep-running")}
          words={t("settings-keep-running.words")}
          on={keepRunning}
          testId="keep-running"
          onChange={(keep_running) => changePreferences({ keep_running })}
        />
      </Group>
      <QuickQuestion />
      <Updates />
    </Page>
  );
}

/** How a question is asked from any program. */
function QuickQuestion() {
  const { quick_key: key, menu_bar: menuBar } = useStore((state) => state.preferences);
  return (
    <Group name={t("settings-quick")}>
      <SelectRow
        name={t("settings-quick-key")}
        words={t("settings-quick-key.words")}
        value={key}
        options={quickKeys()}
        testId="quick-key"
        onChange={(value) => changePreferences({ quick_key: value as QuickKey })}
      />
      {MAC && (
        <SwitchRow
          name={t("settings-menu-bar")}
          words={t("settings-menu-bar.words")}
          on={menuBar}
          testId="menu-bar"
          onChange={(menu_bar) => changePreferences({ menu_bar })}
        />
      )}
    </Group>
  );
}

const checks = (): (readonly [UpdateCheck, string])[] => [
  ["each_start", t("settings-update-check.each-start")],
  ["weekly", t("settings-update-check.weekly")],
  ["never", t("settings-update-check.never")],
];

/** How newer versions come. A build that names no place for them has none of this. */
function Updates() {
  const updates = useStore((state) => state.updates);
  const check = useStore((state) => state.preferences.check_for_updates);
  if (updates.state === "off") return null;
  if (updates.state === "barred") {
    return (
      <Group name={t("settings-updates")}>
        <Row
          name={t("settings-new-versions")}
          words={sentences(why(updates.error), told(updates.error).hint)}
        />
      </Group>
    );
  }
  return (
    <Group name={t("settings-updates")}>
      <SelectRow
        name={t("settings-update-check")}
        words={t("settings-update-check.words")}
        value={check}
        options={checks()}
        testId="check-for-updates"
        onChange={(value) => changePreferences({ check_for_updates: value as UpdateCheck })}
      />
      <Row name={t("settings-new-versions")} words={found(updates)}>
        <button
          type="button"
          className="button"
          data-testid="look-now"
          onClick={() => actInChats("check_for_updates")}
        >
          {t(updates.state === "idle" ? "settings-new-versions.look" : "settings-new-versions.show")}
        </button>
      </Row>
    </Group>
  );
}

/** What is known of newer versions, in a few words. */
function found(updates: UpdateState): string {
  switch (updates.state) {
    case "idle":
      return updates.checked === null
        ? t("settings-new-versions.unchecked")
        : t("settings-new-versions.newest", { date: new Date(updates.checked).toLocaleDateString(locale()) });
    case "failed":
      return why(updates.error);
    case "checking":
      return t("settings-new-versions.checking");
    case "off":
    case "barred":
      return "";
    default:
      return t("settings-new-versions.found", { version: updates.release.version });
  }
}
