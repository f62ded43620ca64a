import { useId, useState } from "react";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";

interface Props {
  port: number;
  testId: string;
  onUse: (port: number) => void;
}

/** Where something listens. */
export function PortRow({ port, testId, onUse }: Props) {
  const [text, setText] = useState(String(port));
  const id = useId();
  const typed = /^\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
  const reason =
    typed === port
      ? t("settings-port.same")
      : typed >= 1024 && typed <= 65535
        ? null
        : t("settings-port.range");
  return (
    <form
      className="setting"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === null) onUse(typed);
      }}
    >
      <label className="setting-text" htmlFor={id}>
        <span className="setting-name">{t("settings-port")}</span>
      </label>
      <div className="row-actions">
        <input
          id={id}
          className="field numbers api-port"
          inputMode="numeric"
          autoComplete="off"
          value={text}
          data-testid={testId}
          onChange={(event) => setText(event.target.value)}
        />
        <ActionButton type="submit" className="button" data-testid={`set-${testId}`} reason={reason}>
          {t("settings-port.use")}
        </ActionButton>
      </div>
    </form>
  );
}
