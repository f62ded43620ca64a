import { useRef } from "react";
import { t } from "../language/text";
import { Icon } from "../primitives/icons";
import type { ServerDraft, TypedValue } from "./serverDraft";

/** Names that are the same in every language. */
const verbatim = String.raw;

interface Props {
  /** Whether they are variables of a program or headers of an address. */
  kind: ServerDraft["kind"];
  values: TypedValue[];
  /** Names whose values are kept where nothing is typed. */
  kept: string[];
  onChange: (values: TypedValue[]) => void;
}

/** Variables or headers: a name and a value each. A value that is kept is never here. */
export function NamedValues({ kind, values, kept, onChange }: Props) {
  const add = useRef<HTMLButtonElement>(null);
  const added = useRef<number | null>(null);
  const program = kind === "program";
  const change = (id: number, part: Partial<TypedValue>) =>
    onChange(values.map((one) => (one.id === id ? { ...one, ...part } : one)));
  const append = () => {
    const id = Math.max(-1, ...values.map(({ id }) => id)) + 1;
    added.current = id;
    onChange([...values, { id, name: "", value: "" }]);
  };
  const remove = (id: number) => {
    onChange(values.filter((one) => one.id !== id));
    add.current?.focus();
  };
  return (
    <fieldset className="server-values">
      <legend>{t(program ? "settings-server-values.variables" : "settings-server-values.headers")}</legend>
      {values.map(({ id, name, value }) => (
        <div key={id} className="field server-value" data-testid="server-value">
          <input
            type="text"
            className="server-code"
            translate="no"
            // biome-ignore lint/a11y/noAutofocus: whoever adds a line writes in it
            autoFocus={added.current === id}
            autoComplete="off"
            autoCapitalize="off"
            autoCorrect="off"
            spellCheck={false}
            value={name}
            aria-label={t("settings-server-values.name")}
            placeholder={program ? verbatim`API_KEY` : verbatim`Authorization`}
            data-testid="server-value-name"
            onChange={(event) => change(id, { name: event.target.value })}
          />
          <input
            type="password"
            className="server-code"
            autoComplete="off"
            value={value}
            aria-label={t("settings-server-values.value", { name })}
            placeholder={kept.includes(name.trim()) ? t("settings-server-values.kept") : ""}
            data-testid="server-value-value"
            onChange={(event) => change(id, { value: event.target.value })}
          />
          <button
            type="button"
            className="icon-button"
            aria-label={t("settings-list.remove-one", { what: name })}
            title={t("settings-list.remove")}
            data-testid="remove-server-value"
            onClick={() => remove(id)}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      <button ref={add} type="button" className="button" data-testid="add-server-value" onClick={append}>
        {t(program ? "settings-server-values.add-variable" : "settings-server-values.add-header")}
      </button>
      {values.length > 0 && <p className="field-words">{t("settings-server-values.words")}</p>}
    </fieldset>
  );
}
