import { t } from "../language/text";
import { ShortcutList } from "../palette/Shortcuts";
import { Page } from "./Page";

/** All keys that do something. */
export function KeyboardPage() {
  return (
    <Page title={t("settings-page.keyboard")} testId="settings-keyboard">
      <ShortcutList />
    </Page>
  );
}
