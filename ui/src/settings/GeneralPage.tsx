import { MAC } from "../primitives/platform";
import { useStore } from "../state/store";
import { changePreferences } from "./actions";
import { Page } from "./Page";
import { Group, SwitchRow } from "./Row";

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
    </Page>
  );
}
