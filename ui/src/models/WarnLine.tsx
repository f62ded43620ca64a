import type { ReactNode } from "react";
import { Icon } from "../primitives/icons";

/** What is wrong with a model though it can be used, with what helps. */
export function WarnLine({ testId, children }: { testId: string; children: ReactNode }) {
  return (
    <p className="warn-line" data-testid={testId}>
      <Icon name="warn" />
      {children}
    </p>
  );
}
