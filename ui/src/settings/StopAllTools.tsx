import { useState } from "react";
import { shell } from "../bridge/bridge";
import { ErrorNote } from "../frame/ErrorNote";
import { t } from "../language/text";
import { Group, Row } from "./Row";
import { SureSheet } from "./SureSheet";
import { useDeed } from "./useDeed";

/** The way out, should anything go wrong: nothing runs any more, and nothing is allowed. */
export function StopAllTools() {
  const [asks, setAsks] = useState(false);
  const { error, run } = useDeed();
  return (
    <Group>
      <Row name={t("settings-stop-tools")} words={t("settings-stop-tools.words")}>
        <button
          type="button"
          className="button danger"
          data-testid="stop-tools"
          onClick={() => setAsks(true)}
        >
          {t("settings-stop-tools.ask")}
        </button>
      </Row>
      {error && <ErrorNote error={error} testId="stop-tools-failed" />}
      <SureSheet
        open={asks}
        onClose={() => setAsks(false)}
        title={t("settings-stop-tools-sheet")}
        words={t("settings-stop-tools-sheet.words")}
        sure={t("settings-stop-tools")}
        testId="stop-tools-sheet"
        onSure={() => run(() => shell.stopAllTools())}
      />
    </Group>
  );
}
