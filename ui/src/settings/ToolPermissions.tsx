import { useRef } from "react";
import { shell } from "../bridge/bridge";
import { ErrorNote } from "../frame/ErrorNote";
import { t } from "../language/text";
import { useStore } from "../state/store";
import { Group, Row } from "./Row";
import { permitted, permittedWhere } from "./toolServers";
import { useDeed } from "./useDeed";

/** What the person has allowed for longer than one call, and the way back. */
export function ToolPermissions() {
  const tools = useStore((state) => state.tools);
  const { permissions } = tools;
  const list = useRef<HTMLDivElement>(null);
  const { error, run } = useDeed();
  const revoke = async (permission: number) => {
    // Its button goes with it: whoever pressed that stays in the list.
    if (await run(() => shell.revokePermission(permission))) list.current?.focus();
  };
  return (
    <Group name={t("settings-permissions")} words={t("settings-permissions.words")}>
      {error && <ErrorNote error={error} testId="revoke-failed" />}
      <div ref={list} tabIndex={-1} className="tool-permissions">
        {permissions.length === 0 && <p className="part-note">{t("settings-permissions.none")}</p>}
        {permissions.map((permission) => {
          const what = permitted(permission, tools);
          return (
            <Row key={permission.id} name={what} words={permittedWhere(permission)}>
              <button
                type="button"
                className="button"
                aria-label={t("settings-permission.revoke-label", { what })}
                data-testid="revoke-permission"
                onClick={() => revoke(permission.id)}
              >
                {t("settings-permission.revoke")}
              </button>
            </Row>
          );
        })}
      </div>
    </Group>
  );
}
