import type { ReactNode } from "react";
import { Icon } from "../primitives/icons";

interface GroupProps {
  /** What its rows have in common; none for the first rows of a page. */
  name?: string;
  /** What it is for, in a sentence. */
  words?: string;
  children: ReactNode;
}

/** Settings that belong together. */
export function Group({ name, words, children }: GroupProps) {
  return (
    <section className="settings-group" aria-label={name}>
      {name !== undefined && <h2>{name}</h2>}
      {words !== undefined && <p className="part-note">{words}</p>}
      {children}
    </section>
  );
}

interface RowProps {
  name: string;
  /** What it does, in a sentence. */
  words?: ReactNode;
  children?: ReactNode;
}

/** A setting: what it is called and does, and what changes it. */
export function Row({ name, words, children }: RowProps) {
  return (
    <div className="setting">
      <div className="setting-text">
        <p className="setting-name">{name}</p>
        {words !== undefined && <p className="setting-words">{words}</p>}
      </div>
      <div className="row-actions">{children}</div>
    </div>
  );
}

interface SwitchProps {
  name: string;
  words: string;
  on: boolean;
  testId: string;
  /** What it shows or hides, in small. */
  sample?: ReactNode;
  onChange: (on: boolean) => void;
}

/** A setting that is on or off. */
export function SwitchRow({ name, words, on, testId, sample, onChange }: SwitchProps) {
  return (
    <Row name={name} words={words}>
      {sample}
      <button
        type="button"
        role="switch"
        aria-checked={on}
        aria-label={name}
        className="switch"
        data-testid={testId}
        onClick={() => onChange(!on)}
      />
    </Row>
  );
}

interface SelectProps {
  name: string;
  words: string;
  value: string;
  /** What can be chosen: the value and what it is called. */
  options: (readonly [string, string])[];
  testId: string;
  onChange: (value: string) => void;
}

/** A setting that is one of a few. */
export function SelectRow({ name, words, value, options, testId, onChange }: SelectProps) {
  return (
    <Row name={name} words={words}>
      <div className="select-place">
        <select
          className="select"
          aria-label={name}
          data-testid={testId}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        >
          {options.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
        <Icon name="down" />
      </div>
    </Row>
  );
}
