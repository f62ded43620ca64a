import type { ReactNode } from "react";
import type { SectionId } from "./sections";

interface SectionProps {
  id: SectionId;
  name: string;
  /** What it is for, in a sentence. */
  words?: string;
  children: ReactNode;
}

/** A part of the settings. */
export function Section({ id, name, words, children }: SectionProps) {
  return (
    <section
      className="part"
      aria-label={name}
      tabIndex={-1}
      data-section={id}
      data-testid={`settings-${id}`}
    >
      <header className="part-head">
        <h2>{name}</h2>
      </header>
      {words !== undefined && <p className="part-note">{words}</p>}
      <ul className="rows">{children}</ul>
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
    <li className="row">
      <div className="row-line setting">
        <div className="row-text">
          <h3 className="row-name">{name}</h3>
          {words !== undefined && <p className="row-words">{words}</p>}
        </div>
        <div className="row-actions">{children}</div>
      </div>
    </li>
  );
}

interface SwitchProps {
  name: string;
  words: string;
  on: boolean;
  testId: string;
  onChange: (on: boolean) => void;
}

/** A setting that is on or off. */
export function SwitchRow({ name, words, on, testId, onChange }: SwitchProps) {
  return (
    <Row name={name} words={words}>
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
