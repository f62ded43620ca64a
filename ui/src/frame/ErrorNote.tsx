import type { ReactNode } from "react";
import type { ErrorReport } from "../bridge/bindings";
import { noteKind } from "./noteKind";
import { SignedNote } from "./SignedNote";

interface Props {
  error: ErrorReport;
  testId?: string;
  /** Buttons, the best one first. */
  actions?: ReactNode;
  /** What else there is to know. */
  children?: ReactNode;
}

/** What went wrong and what to do about it. */
export function ErrorNote({ error: { code, message, hint }, ...rest }: Props) {
  return <SignedNote kind={noteKind(code)} message={message} hint={hint} role="alert" {...rest} />;
}
