import type { ReactNode } from "react";
import { t } from "../language/text";
import { setView, useStore } from "../state/store";
import { HubError } from "./HubError";

interface Props {
  subject: string;
  /** The repository that it is about, where there is one. */
  repo?: string | null;
  /** What can be done, the best first. */
  actions?: ReactNode;
}

/** Why the last action on one thing of the library failed. */
export function LibraryError({ subject, repo, actions }: Props) {
  const error = useLibraryError(subject);
  if (!error) return null;
  return (
    <HubError
      error={error}
      testId="library-error"
      repo={repo}
      actions={
        <>
          {actions}
          <button type="button" className="button" onClick={() => setView({ libraryError: null })}>
            {t("models-dismiss")}
          </button>
        </>
      }
    />
  );
}

const useLibraryError = (subject: string) =>
  useStore((state) => (state.libraryError?.about === subject ? state.libraryError.report : null));
