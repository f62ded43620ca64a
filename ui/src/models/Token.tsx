import { useState } from "react";
import { ErrorNote } from "../frame/ErrorNote";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { PopoverButton } from "../primitives/PopoverButton";
import { useStore } from "../state/store";
import { about, setHubToken } from "./actions";

/** Opens the field that the token for the Hub is typed into. */
export function TokenControl() {
  const has = useStore((state) => state.library?.has_token ?? false);
  const [open, setOpen] = useState(false);
  return (
    <PopoverButton
      label={t(has ? "models-token.open-replace" : "models-token.open-set")}
      title={t("models-token")}
      testId="token-control"
      className="button"
      side="bottom"
      chevron={false}
      open={open}
      onOpenChange={setOpen}
    >
      <TokenForm onDone={() => setOpen(false)} />
    </PopoverButton>
  );
}

/** The token lives in this field alone until it is handed over, and never comes back. */
function TokenForm({ onDone }: { onDone: () => void }) {
  const [token, setText] = useState("");
  const [saving, setSaving] = useState(false);
  const error = useStore((state) => (state.libraryError?.about === about.token ? state.libraryError : null));
  const trimmed = token.trim();
  const reason = saving ? t("models-token.keeping") : trimmed === "" ? t("models-token.empty") : null;

  const save = async () => {
    setSaving(true);
    const kept = await setHubToken(trimmed);
    setSaving(false);
    if (kept) onDone();
  };

  return (
    <form
      className="token-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === null) save();
      }}
    >
      <label htmlFor="hub-token">{t("models-token")}</label>
      <input
        id="hub-token"
        type="password"
        autoComplete="off"
        spellCheck={false}
        value={token}
        placeholder="hf_…"
        data-testid="hub-token"
        onChange={(event) => setText(event.target.value)}
      />
      <p className="popover-note">{t("models-token.note")}</p>
      {error && <ErrorNote error={error.report} testId="token-error" />}
      <div className="popover-foot">
        <ActionButton type="submit" className="button" data-testid="keep-token" reason={reason}>
          {t("models-token.keep")}
        </ActionButton>
      </div>
    </form>
  );
}
