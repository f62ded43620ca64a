import type { ReactNode } from "react";
import type { ErrorReport } from "../bridge/bindings";
import { ErrorNote } from "../frame/ErrorNote";
import { RichText } from "../language/RichText";
import { t } from "../language/text";
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
            {gated && <CopyButton className="button" text={address} label={t("models-access")} />}
            {gated && <TokenControl />}
            {actions}
          </>
        )
      }
    >
      {gated && (
        <ol className="access">
          <li>
            <RichText
              id="models-access.open"
              args={{ address }}
              parts={{ address: (words) => <code>{words}</code> }}
            />
          </li>
          <li>{t("models-access.token")}</li>
          <li>{t("models-access.again")}</li>
        </ol>
      )}
    </ErrorNote>
  );
}
