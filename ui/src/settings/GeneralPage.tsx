import type { QuickKey, UpdateCheck, UpdateState } from "../bridge/bindings";
import { MAC } from "../primitives/platform";
import { QUICK_KEYS } from "../quick/keys";
import { useStore } from "../state/store";
import { actInChats, changePreferences } from "./actions";
import { Page } from "./Page";
import { Group, Row, SelectRow, SwitchRow } from "./Row";

/** What the app does when nobody looks at it. */
export function GeneralPage() {
  const { notifications, keep_running: keepRunning } = useStore((state) => state.preferences);
  return (
    <Page title="General" testId="settings-general">
      <Group>
        <SwitchRow
          name="Notifications"
          words="Tells of long replies, downloads and conversions that end while you look elsewhere"
          on={notifications}
          testId="notifications"
          onChange={(notifications) => changePreferences({ notifications })}
        />
        <SwitchRow
          name="Keep running when the window is closed"
          words={`Replies and downloads go on. ${MAC ? "A click in the Dock" : "Starting Foretoken again"} brings the window back`}
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
    <Group name="Quick question">
      <SelectRow
        name="Keys that ask from any program"
        words="They bring up a small panel over what you do. It goes when you turn to something else, and its reply is written on"
        value={key}
        options={QUICK_KEYS}
        testId="quick-key"
        onChange={(value) => changePreferences({ quick_key: value as QuickKey })}
      />
      {MAC && (
        <SwitchRow
          name="Show in the menu bar"
          words="What the model does and how fast, from any program"
          on={menuBar}
          testId="menu-bar"
          onChange={(menu_bar) => changePreferences({ menu_bar })}
        />
      )}
    </Group>
  );
}

const CHECKS: (readonly [UpdateCheck, string])[] = [
  ["each_start", "At each start"],
  ["weekly", "Weekly"],
  ["never", "Never"],
];

/** How newer versions come. A build that names no place for them has none of this. */
function Updates() {
  const updates = useStore((state) => state.updates);
  const check = useStore((state) => state.preferences.check_for_updates);
  if (updates.state === "off") return null;
  if (updates.state === "barred") {
    const { message, hint } = updates.error;
    return (
      <Group name="Updates">
        <Row name="New versions" words={`${message} ${hint}`} />
      </Group>
    );
  }
  return (
    <Group name="Updates">
      <SelectRow
        name="Look for new versions"
        words="Asks the server that has them which one is the newest. You are asked before one is installed"
        value={check}
        options={CHECKS}
        testId="check-for-updates"
        onChange={(value) => changePreferences({ check_for_updates: value as UpdateCheck })}
      />
      <Row name="New versions" words={found(updates)}>
        <button
          type="button"
          className="button"
          data-testid="look-now"
          onClick={() => actInChats("check_for_updates")}
        >
          {updates.state === "idle" ? "Look now" : "Show…"}
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
        ? "Not looked yet"
        : `You have the newest one, as of ${new Date(updates.checked).toLocaleDateString()}`;
    case "failed":
      return updates.error.message;
    case "checking":
      return "Looking…";
    case "off":
    case "barred":
      return "";
    default:
      return `Foretoken ${updates.release.version} is there`;
  }
}
