import { type Ref, useState } from "react";
import type { ServerInfo } from "../bridge/bindings";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { ServerFacts } from "./ServerFacts";
import { ServerLines } from "./ServerLines";
import { ServerTools } from "./ServerTools";
import { SureSheet } from "./SureSheet";

interface Props {
  server: ServerInfo;
  /** Starts it; null where it runs, may not run, or has a button for that elsewhere. */
  onStart: (() => void) | null;
  /** Signs the person out of it; null where they are not signed in. */
  onSignOut: (() => void) | null;
  /** Why nothing can be done with it now; null if it can. */
  reason: string | null;
  editButton: Ref<HTMLButtonElement>;
  onEdit: () => void;
  onRemove: () => void;
}

/** What a server runs or reaches, its tools, what it has written, and what can be done with it. */
export function ServerDetails({ server, onStart, onSignOut, reason, editButton, onEdit, onRemove }: Props) {
  const [asks, setAsks] = useState(false);
  const { slug, name, transport } = server;
  return (
    <>
      <ServerFacts server={server} />
      <ServerTools server={server} />
      {transport.kind === "program" && <ServerLines slug={slug} />}
      <div className="servers-foot">
        {onStart && (
          <ActionButton className="button" data-testid="start-server" reason={reason} onClick={onStart}>
            {t("settings-server-start")}
          </ActionButton>
        )}
        {onSignOut && (
          <ActionButton
            className="button"
            aria-label={t("settings-server-sign-out.label", { name })}
            data-testid="sign-out"
            reason={reason}
            onClick={onSignOut}
          >
            {t("settings-server-sign-out")}
          </ActionButton>
        )}
        <button
          ref={editButton}
          type="button"
          className="button"
          aria-label={t("settings-server-edit.label", { name })}
          data-testid="edit-server"
          onClick={onEdit}
        >
          {t("settings-server-edit")}
        </button>
        <ActionButton
          className="button"
          aria-label={t("settings-server-remove.label", { name })}
          data-testid="remove-server"
          reason={reason}
          onClick={() => setAsks(true)}
        >
          {t("settings-server-remove")}
        </ActionButton>
      </div>
      <SureSheet
        open={asks}
        onClose={() => setAsks(false)}
        title={t("settings-server-remove-sheet", { name })}
        words={t("settings-server-remove-sheet.words")}
        sure={t("settings-server-remove-sheet.sure")}
        testId="remove-server-sheet"
        onSure={onRemove}
      />
    </>
  );
}
