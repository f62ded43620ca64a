import { ShortcutList } from "../palette/Shortcuts";
import { Page } from "./Page";

/** All keys that do something. */
export function KeyboardPage() {
  return (
    <Page title="Keyboard" testId="settings-keyboard">
      <ShortcutList />
    </Page>
  );
}
