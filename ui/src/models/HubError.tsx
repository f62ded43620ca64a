import type { ReactNode } from "react";
import type { ErrorReport } from "../bridge/bindings";
import { ErrorNote } from "../frame/ErrorNote";
import { CopyButton } from "../primitives/CopyButton";
import { isGated } from "./jobs";
import { TokenControl } from "./Token";

interface Props {
  error: ErrorReport;
  testId: string;
  /** The repository that it is about, where that is known. */
  repo?: string | null;
  /** What can be done about it, the best first. */
  actions?: ReactNode;
}

/** What went wrong with the Hub or the library. Where a repository is not open to everybody, how to get in. */
export function HubError({ error, testId, repo = null, actions }: Props) {
  const gated = isGated(error);
  const address = `https://huggingface.co/${repo ?? ""}`;
  return (
    <ErrorNote
      error={gated ? { ...error, hint: "" } : error}
      testId={testId}
      actions={
        (gated || actions) && (
          <>
            {gated && <CopyButton className="button" text={address} label="Copy address" />}
            {gated && <TokenControl />}
            {actions}
          </>
        )
      }
    >
      {gated && (
        <ol className="access">
          <li>
            Open <code>{address}</code> in your browser, and ask for access.
          </li>
          <li>Make a token with read access in your Hugging Face account, and set it here.</li>
          <li>Try again once you have access.</li>
        </ol>
      )}
    </ErrorNote>
  );
}
