import type { ReactNode } from "react";
import { Icon } from "../primitives/icons";
import { type NoteKind, SIGNS } from "./noteKind";

interface Props {
  kind: NoteKind;
  /** One line: what happened. */
  message: ReactNode;
  /** One more: what was kept, or why. */
  hint?: ReactNode;
  /** Buttons, the best one first. */
  actions?: ReactNode;
  /** What else there is to know. */
  children?: ReactNode;
  /** How urgently it is read out; not at all where that is not given. */
  role?: "alert" | "status";
  testId?: string;
}

/** What the app says of errors, of what is away and of what is full: always in these parts, in this order. */
export function SignedNote({ kind, message, hint, actions, children, role, testId }: Props) {
  return (
    <div className="signed-note" role={role} data-testid={testId}>
      <span className={`sign ${kind}`}>
        <Icon name={SIGNS[kind]} />
      </span>
      <div className="signed-words">
        <p className="signed-message">{message}</p>
        {hint && <p className="signed-hint numbers">{hint}</p>}
        {children}
        {actions && <div className="actions">{actions}</div>}
      </div>
    </div>
  );
}
