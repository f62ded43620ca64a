import { useId } from "react";
import type { FieldKind, FormField, TextFormat } from "../bridge/bindings";
import { t } from "../language/text";
import { Icon } from "../primitives/icons";
import { type Filled, type FilledForm, isNeeded, problemOf } from "./serverForm";
import { VisibleText } from "./VisibleText";

interface Props {
  fields: FormField[];
  form: FilledForm;
  onFill: (name: string, filled: Filled) => void;
}

/** What a server wants to have filled in, in its words. */
export function ServerFields({ fields, form, onFill }: Props) {
  return (
    // Escape in a field stops no reply: what is filled in would be lost.
    <div className="server-fields" data-escape data-testid="server-fields">
      {fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          filled={form.get(field.name) ?? ""}
          onFill={(filled) => onFill(field.name, filled)}
        />
      ))}
    </div>
  );
}

interface FieldProps {
  field: FormField;
  filled: Filled;
  onFill: (filled: Filled) => void;
}

/** A field by its kind. */
function Field({ field, filled, onFill }: FieldProps) {
  const { kind } = field;
  switch (kind.kind) {
    case "text":
    case "number":
      return (
        <Line field={field} kind={kind} text={typeof filled === "string" ? filled : ""} onFill={onFill} />
      );
    case "switch":
      return <Switch field={field} on={filled === true} onFill={onFill} />;
    case "choice": {
      const Choice = kind.several ? Several : One;
      return (
        <Choice field={field} kind={kind} chosen={Array.isArray(filled) ? filled : []} onFill={onFill} />
      );
    }
  }
}

/** What a field is called, and whether it must be filled in. */
function Title({ field }: { field: FormField }) {
  return (
    <>
      <bdi translate="no">
        <VisibleText text={field.title} />
      </bdi>
      {isNeeded(field) && <span className="soft"> · {t("server-question.required")}</span>}
    </>
  );
}

/** What a field is for; it describes what is filled in by `id`. */
function Description({ field: { description }, id }: { field: FormField; id: string }) {
  if (!description) return null;
  return (
    <p id={id} className="field-words" translate="no">
      <VisibleText text={description} />
    </p>
  );
}

const TYPES: Record<TextFormat, string> = {
  email: "email",
  address: "url",
  date: "date",
  date_time: "datetime-local",
};

interface LineProps {
  field: FormField;
  kind: Extract<FieldKind, { kind: "text" | "number" }>;
  text: string;
  onFill: (text: string) => void;
}

function Line({ field, kind, text, onFill }: LineProps) {
  const id = useId();
  const problem = problemOf(field, text);
  const format = kind.kind === "text" ? kind.format : null;
  return (
    <div className="field">
      <label htmlFor={id}>
        <Title field={field} />
      </label>
      <input
        id={id}
        // A number is read as numbers are everywhere: a field of that type would take what is none for nothing.
        type={format === null ? "text" : TYPES[format]}
        inputMode={kind.kind === "number" ? (kind.whole ? "numeric" : "decimal") : undefined}
        // What is sent is what was written.
        autoComplete="off"
        autoCapitalize="off"
        autoCorrect="off"
        spellCheck={kind.kind === "text" && format === null}
        value={text}
        aria-invalid={problem !== null}
        aria-describedby={`${id}-problem ${id}-words`}
        onChange={(event) => onFill(event.target.value)}
      />
      {problem !== null && (
        <p id={`${id}-problem`} className="field-problem">
          {problem}
        </p>
      )}
      <Description field={field} id={`${id}-words`} />
    </div>
  );
}

interface SwitchProps {
  field: FormField;
  on: boolean;
  onFill: (on: boolean) => void;
}

function Switch({ field, on, onFill }: SwitchProps) {
  const id = useId();
  return (
    <div className="server-check">
      <label className="check">
        <input
          type="checkbox"
          checked={on}
          aria-describedby={id}
          onChange={(event) => onFill(event.target.checked)}
        />
        <bdi translate="no">
          <VisibleText text={field.title} />
        </bdi>
      </label>
      <Description field={field} id={id} />
    </div>
  );
}

interface ChoiceProps {
  field: FormField;
  kind: Extract<FieldKind, { kind: "choice" }>;
  /** The places of the chosen options. */
  chosen: number[];
  onFill: (chosen: number[]) => void;
}

/** One of the options, or none as long as it is not chosen. */
function One({ field, kind, chosen, onFill }: ChoiceProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>
        <Title field={field} />
      </label>
      <div className="select-place">
        <select
          id={id}
          className="select"
          value={chosen[0] ?? ""}
          aria-describedby={`${id}-words`}
          onChange={({ target: { value } }) => onFill(value === "" ? [] : [Number(value)])}
        >
          <option value="">{t("server-question.none")}</option>
          {kind.options.map((option, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: an option is its place
            <option key={place} value={place} translate="no">
              {option.title}
            </option>
          ))}
        </select>
        <Icon name="down" />
      </div>
      <Description field={field} id={`${id}-words`} />
    </div>
  );
}

/** Some of the options. */
function Several({ field, kind, chosen, onFill }: ChoiceProps) {
  const id = useId();
  const choose = (place: number, on: boolean) =>
    onFill(kind.options.flatMap((_, at) => ((at === place ? on : chosen.includes(at)) ? [at] : [])));
  return (
    <fieldset className="server-choices" aria-describedby={id}>
      <legend>
        <Title field={field} />
      </legend>
      {kind.options.map((option, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an option is its place
        <label key={place} className="check">
          <input
            type="checkbox"
            checked={chosen.includes(place)}
            onChange={(event) => choose(place, event.target.checked)}
          />
          <bdi translate="no">
            <VisibleText text={option.title} />
          </bdi>
        </label>
      ))}
      <Description field={field} id={id} />
    </fieldset>
  );
}
