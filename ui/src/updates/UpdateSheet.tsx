import type { ReactNode } from "react";
import type { Release, UpdateState } from "../bridge/bindings";
import { ErrorNote } from "../frame/ErrorNote";
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

const UPDATES = "Updates";

function contents(updates: UpdateState): Contents {
  switch (updates.state) {
    case "off":
      return { title: UPDATES, body: null, foot: { buttons: null } };
    case "barred":
      return {
        title: UPDATES,
        body: <ErrorNote error={updates.error} testId="update-error" />,
        foot: { buttons: CLOSE },
      };
    case "idle":
      return { title: UPDATES, body: <p>This is the newest version.</p>, foot: { buttons: CLOSE } };
    case "checking":
      return { title: UPDATES, body: <p>Looking for a newer version…</p>, foot: { buttons: CLOSE } };
    case "available":
      return ofRelease(updates.release, {
        words: updates.release.bytes === null ? undefined : bytes(updates.release.bytes),
        buttons: (
          <>
            <Later />
            <Install words="Install and restart" />
          </>
        ),
      });
    case "downloading": {
      const { release, done, total } = updates;
      const words =
        total === null ? bytes(done) : `${percent(done / total)} of ${bytes(total)} is downloaded`;
      return ofRelease(release, { words, buttons: <Cancel /> }, <Progress part={total && done / total} />);
    }
    case "waiting":
      return ofRelease(
        updates.release,
        { words: "Downloaded. Waits for replies and downloads to end", buttons: <Cancel /> },
        <Progress part={1} />,
      );
    case "installing":
      return ofRelease(
        updates.release,
        { words: "Foretoken starts again in a moment", buttons: null },
        <Progress part={null} />,
      );
    case "failed": {
      const { release, error } = updates;
      const note = <ErrorNote error={error} testId="update-error" />;
      if (release === null)
        return { title: UPDATES, body: note, foot: { buttons: <TryAgain onClick={lookForUpdate} /> } };
      return ofRelease(
        release,
        {
          buttons: (
            <>
              <Later />
              <Install words="Try again" />
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
          <p>A newer version is there.</p>
        ) : (
          <Markdown key={release.version} text={release.notes} complete />
        )}
      </>
    ),
    foot,
  };
}

const CLOSE = (
  <button type="button" className="button" data-testid="update-close" onClick={closeUpdate}>
    Close
  </button>
);

const Later = () => (
  <button type="button" className="button" data-testid="update-later" onClick={postponeUpdate}>
    Later
  </button>
);

const Install = ({ words }: { words: string }) => (
  <button type="button" className="button primary" data-testid="update-install" onClick={installUpdate}>
    {words}
  </button>
);

const Cancel = () => (
  <button type="button" className="button" data-testid="update-cancel" onClick={cancelUpdate}>
    Cancel
  </button>
);

const TryAgain = ({ onClick }: { onClick: () => void }) => (
  <>
    {CLOSE}
    <button type="button" className="button primary" data-testid="update-look" onClick={onClick}>
      Try again
    </button>
  </>
);

const Progress = ({ part }: { part: number | null }) => (
  <progress value={part ?? undefined} aria-label="New version" />
);
