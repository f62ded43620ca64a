import { useId, useState } from "react";
import { t } from "../language/text";
import { exact } from "./format";

interface Props {
  label: string;
  /** What it does, in a few words. */
  words: string;
  value: number | null;
  min: number;
  max: number;
  whole?: boolean;
  /** What an empty field means; without it a value is needed. */
  empty?: string;
  testId: string;
  onChange: (value: number | null) => void;
}

/** A number that is taken over as soon as it is valid. */
export function NumberField({ label, words, value, min, max, whole, empty, testId, onChange }: Props) {
  const id = useId();
  const [text, setText] = useState(show(value));
  const [shownFor, setShownFor] = useState(value);
  const parsed = parse(text, { min, max, whole, empty });

  // A value that came from elsewhere replaces the text; one's own "0." does not.
  if (value !== shownFor) {
    setShownFor(value);
    if (!("value" in parsed) || show(parsed.value) !== show(value)) setText(show(value));
  }

  const problem = "problem" in parsed ? parsed.problem : null;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="text"
        inputMode={whole ? "numeric" : "decimal"}
        autoComplete="off"
        spellCheck={false}
        value={text}
        placeholder={empty}
        data-testid={testId}
        aria-invalid={problem !== null}
        aria-describedby={`${id}-words`}
        onChange={(event) => {
          const next = parse(event.target.value, { min, max, whole, empty });
          setText(event.target.value);
          if ("value" in next) onChange(next.value);
        }}
      />
      <p
        id={`${id}-words`}
        className={problem ? "field-problem" : "field-words"}
        role={problem ? "alert" : undefined}
      >
        {problem ?? words}
      </p>
    </div>
  );
}

interface Limits {
  min: number;
  max: number;
  whole?: boolean;
  empty?: string;
}

export function parse(text: string, limits: Limits): { value: number | null } | { problem: string } {
  const trimmed = text.trim().replace(",", ".");
  if (trimmed === "")
    return limits.empty === undefined ? { problem: t("word-number-needed") } : { value: null };
  const value = Number(trimmed);
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(trimmed))
    return { problem: t("word-no-number", { text: text.trim() }) };
  if (limits.whole && !Number.isInteger(value)) return { problem: t("word-whole-numbers") };
  if (value < limits.min) return { problem: t("word-at-least", { least: limits.min }) };
  if (value > limits.max) return { problem: t("word-at-most", { most: limits.max }) };
  return { value };
}

const show = (value: number | null): string => (value === null ? "" : exact(value));
