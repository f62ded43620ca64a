import type { ReactNode } from "react";
import type { Release, UpdateState } from "../bridge/bindings";
import { ErrorNote } from "../frame/ErrorNote";
import { t } from "../language/text";
import { Markdown } from "../markdown/Markdown";
import { bytes, percent } from "../primitives/format";
import { Sheet } from "../primitives/Sheet";
import { useStore } from "../state/store";
import { cancelUpdate, closeUpdate, installUpdate, lookForUpdate, postponeUpdate } from "./actions";

/** Tells of newer versions, and asks before one is installed. */
export function UpdateSheet() {
  const open = useStore((state) => state.updateSheet && state.updates.state !== "off");
  const updates = useStore((state) => state.updates);
  const { title, body, foot } = contents(updates);
  return (
    <Sheet
      open={open}
      onClose={closeUpdate}
      title={title}
      testId="update-sheet"
      foot={
        <>
          {foot.words !== undefined && (
            <p className="sheet-state numbers" data-testid="update-words">
              {foot.words}
            </p>
          )}
          <span className="spring" />
          {foot.buttons}
        </>
      }
    >
      {body}
    </Sheet>
  );
}

interface Contents {
  title: string;
  body: ReactNode;
  foot: { words?: string; buttons: ReactNode };
}

function contents(updates: UpdateState): Contents {
  switch (updates.state) {
    case "off":
      return { title: t("updates-title"), body: null, foot: { buttons: null } };
    case "barred":
      return {
        title: t("updates-title"),
        body: <ErrorNote error={updates.error} testId="update-error" />,
        foot: { buttons: <Close /> },
      };
    case "idle":
      return { title: t("updates-title"), body: <p>{t("updates-newest")}</p>, foot: { buttons: <Close /> } };
    case "checking":
      return {
        title: t("updates-title"),
        body: <p>{t("updates-checking")}</p>,
        foot: { buttons: <Close /> },
      };
    case "available":
      return ofRelease(updates.release, {
        words: updates.release.bytes === null ? undefined : bytes(updates.release.bytes),
        buttons: (
          <>
            <Later />
            <Install words={t("updates-install")} />
          </>
        ),
      });
    case "downloading": {
      const { release, done, total } = updates;
      const words =
        total === null
          ? bytes(done)
          : t("updates-downloaded", { share: percent(done / total), size: bytes(total) });
      return ofRelease(release, { words, buttons: <Cancel /> }, <Progress part={total && done / total} />);
    }
    case "waiting":
      return ofRelease(
        updates.release,
        { words: t("updates-waiting"), buttons: <Cancel /> },
        <Progress part={1} />,
      );
    case "installing":
      return ofRelease(
        updates.release,
        { words: t("updates-installing"), buttons: null },
        <Progress part={null} />,
      );
    case "failed": {
      const { release, error } = updates;
      const note = <ErrorNote error={error} testId="update-error" />;
      if (release === null)
        return {
          title: t("updates-title"),
          body: note,
          foot: { buttons: <TryAgain onClick={lookForUpdate} /> },
        };
      return ofRelease(
        release,
        {
          buttons: (
            <>
              <Later />
              <Install words={t("updates-install.again")} />
            </>
          ),
        },
        note,
      );
    }
  }
}

/** What is new in a version, with what is being done about it above. */
function ofRelease(release: Release, foot: Contents["foot"], above?: ReactNode): Contents {
  return {
    title: `Foretoken ${release.version}`,
    body: (
      <>
        {above}
        {release.notes === "" ? (
          <p>{t("updates-there")}</p>
        ) : (
          <Markdown key={release.version} text={release.notes} complete />
        )}
      </>
    ),
    foot,
  };
}

const Close = () => (
  <button type="button" className="button" data-testid="update-close" onClick={closeUpdate}>
    {t("updates-close")}
  </button>
);

const Later = () => (
  <button type="button" className="button" data-testid="update-later" onClick={postponeUpdate}>
    {t("updates-later")}
  </button>
);

const Install = ({ words }: { words: string }) => (
  <button type="button" className="button primary" data-testid="update-install" onClick={installUpdate}>
    {words}
  </button>
);

const Cancel = () => (
  <button type="button" className="button" data-testid="update-cancel" onClick={cancelUpdate}>
    {t("updates-cancel")}
  </button>
);

const TryAgain = ({ onClick }: { onClick: () => void }) => (
  <>
    <Close />
    <button type="button" className="button primary" data-testid="update-look" onClick={onClick}>
      {t("updates-look-again")}
    </button>
  </>
);

const Progress = ({ part }: { part: number | null }) => (
  <progress value={part ?? undefined} aria-label={t("updates-version")} />
);
