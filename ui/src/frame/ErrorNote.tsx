import type { ReactNode } from "react";
import type { ErrorReport } from "../bridge/bindings";
import { t } from "../language/text";
import { told } from "../language/told";
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
export function ErrorNote({ error, children, ...rest }: Props) {
  const { code, message, hint, details } = told(error);
  return (
    <SignedNote kind={noteKind(code)} message={message} hint={hint} role="alert" {...rest}>
      {details && (
        <details className="signed-details">
          <summary>{t("frame-error-details")}</summary>
          <p lang="en">{details}</p>
        </details>
      )}
      {children}
    </SignedNote>
  );
}
