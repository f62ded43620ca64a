import { useRef } from "react";
import { shell } from "../bridge/bridge";
import { VisibleText } from "../chat/VisibleText";
import { visible } from "../chat/visible";
import { ErrorNote } from "../frame/ErrorNote";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { useStore } from "../state/store";
import { Group, Row } from "./Row";
import { useDeed } from "./useDeed";

/** The folders whose files models may be given. */
export function ToolFolders() {
  const folders = useStore((state) => state.tools.folders);
  const add = useRef<HTMLButtonElement>(null);
  const { busy, error, run } = useDeed();
  const reason = busy ? t("settings-server-busy") : null;
  const remove = async (name: string) => {
    // Its button goes with it: whoever pressed that stays in the list.
    if (await run(() => shell.removeToolFolder(name))) add.current?.focus();
  };
  return (
    <Group name={t("settings-folders")} words={t("settings-folders.words")}>
      {folders.length === 0 && <p className="part-note">{t("settings-folders.none")}</p>}
      {folders.map(({ name, path }) => (
        <Row key={name} name={visible(name)} words={<VisibleText text={path} />}>
          <ActionButton
            className="button"
            aria-label={t("settings-folders.remove-label", { name: visible(name) })}
            data-testid="remove-tool-folder"
            reason={reason}
            onClick={() => remove(name)}
          >
            {t("settings-folders.remove")}
          </ActionButton>
        </Row>
      ))}
      {error && <ErrorNote error={error} testId="tool-folder-failed" />}
      <div className={folders.length === 0 ? "servers-foot" : "servers-foot after-rows"}>
        <ActionButton
          ref={add}
          className="button"
          data-testid="add-tool-folder"
          reason={reason}
          onClick={() => run(() => shell.addToolFolder())}
        >
          {t("settings-folders.add")}
        </ActionButton>
      </div>
    </Group>
  );
}
