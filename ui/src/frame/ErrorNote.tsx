import type { ReactNode } from "react";
import type { ErrorReport } from "../bridge/bindings";

interface Props {
  error: ErrorReport;
  testId?: string;
  children?: ReactNode;
}

/** What went wrong and what to do about it. */
export function ErrorNote({ error, testId, children }: Props) {
  return (
    <div className="error-note" role="alert" data-testid={testId}>
      <p className="error-message">{error.message}</p>
      {error.hint && <p className="error-hint">{error.hint}</p>}
      {children}
    </div>
  );
}
