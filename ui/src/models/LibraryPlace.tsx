import { useState } from "react";
import type { LibraryPlace, LibrarySnapshot } from "../bridge/bindings";
import { SignedNote } from "../frame/SignedNote";
import { useSpotlight } from "../frame/useSpotlight";
import { ActionButton } from "../primitives/ActionButton";
import { bytes } from "../primitives/format";
import { SHOW_FOLDER } from "../primitives/platform";
import { setView, useStore } from "../state/store";
import { about, chooseLibraryFolder, moveLibrary, reveal, setHubToken } from "./actions";
import { LibraryError } from "./LibraryError";
import { awayLabel, comesBackLabel } from "./labels";
import { SmallerMemory } from "./SmallerMemory";
import { TokenControl } from "./Token";

/** Less free space than this is too little for any model that is worth a download. */
const SCARCE = 3e9;

/** Where models are kept, and what lets the Hub know the person. */
export function Storage() {
  const place = useStore((state) => state.library?.place);
  const hasToken = useStore((state) => state.library?.has_token ?? false);
  const target = useSpotlight<HTMLElement>(about.token, { block: "start" });
  if (!place) return null;
  return (
    <section
      className="part"
      aria-label="Storage, memory and access"
      tabIndex={-1}
      ref={target}
      data-testid="storage"
    >
      <header className="part-head">
        <h2>Storage, memory and access</h2>
      </header>
      <ul className="rows">
        <PlaceRow place={place} />
        <SmallerMemory />
        <li className="row">
          <div className="row-line">
            <div className="row-text">
              <h3 className="row-name">Hugging Face token</h3>
              <p className="row-words" data-testid="token-state">
                {hasToken
                  ? "Set. It is in the system's keychain."
                  : "Not set. Only models with restricted access need one."}
              </p>
            </div>
            <div className="row-actions">
              {hasToken && (
                <button
                  type="button"
                  className="button"
                  data-testid="remove-token"
                  onClick={() => setHubToken(null)}
                >
                  Remove
                </button>
              )}
              <TokenControl />
            </div>
          </div>
        </li>
      </ul>
    </section>
  );
}

function PlaceRow({ place }: { place: LibraryPlace }) {
  const target = useStore((state) => state.libraryTarget);
  const [moving, setMoving] = useState(false);
  const row = useSpotlight<HTMLLIElement>(about.place);

  const leave = () => setView({ libraryTarget: null });
  const move = async (path: string) => {
    setMoving(true);
    const done = await moveLibrary(path);
    setMoving(false);
    if (done) leave();
  };

  return (
    <li ref={row} className="row" tabIndex={-1}>
      <div className="row-line">
        <div className="row-text">
          <h3 className="row-name">Library folder</h3>
          <p className="row-words path">{place.path}</p>
          <p className="row-words numbers">
            {place.online
              ? `${bytes(place.used_bytes)} of models, ${bytes(place.free_bytes)} free`
              : "Offline: its disk is not connected"}
          </p>
        </div>
        <div className="row-actions">
          {place.online && (
            <button type="button" className="button" onClick={() => reveal(place.path, about.place)}>
              {SHOW_FOLDER}
            </button>
          )}
          <button type="button" className="button" data-testid="change-place" onClick={chooseLibraryFolder}>
            Change…
          </button>
        </div>
      </div>
      {target !== null && (
        <div className="confirm" role="status" data-testid="confirm-move">
          <p className="numbers">
            Keep models in <span className="path">{target}</span>?{" "}
            {place.online
              ? `The ${bytes(place.used_bytes)} that are in the library are moved there.`
              : "The models on the disk that is not connected stay there."}{" "}
            If the folder holds a library already, that one is used.
          </p>
          <div className="actions">
            <ActionButton
              className="button"
              data-testid="move-library"
              reason={moving ? "The move is being prepared." : null}
              onClick={() => move(target)}
            >
              Use this folder
            </ActionButton>
            <button type="button" className="button" onClick={leave}>
              Leave it
            </button>
          </div>
        </div>
      )}
      <LibraryError subject={about.place} />
    </li>
  );
}

/** What is wrong with the library's place, at the top where it is seen. */
export function PlaceNotice({ library: { place, models } }: { library: LibrarySnapshot }) {
  const elsewhere = (
    <button type="button" className="button" data-testid="another-place" onClick={chooseLibraryFolder}>
      Use another folder…
    </button>
  );
  if (!place.online)
    return (
      <SignedNote
        kind="unplugged"
        role="status"
        testId="library-offline"
        message={awayLabel(place.path)}
        hint={comesBackLabel(models)}
        actions={elsewhere}
      >
        <p className="path">{place.path}</p>
      </SignedNote>
    );
  if (place.free_bytes < SCARCE)
    return (
      <SignedNote
        kind="short"
        role="status"
        testId="disk-full"
        message={`The disk is almost full: ${bytes(place.free_bytes)} free`}
        hint="Downloads stop until there is room. Delete a model and quit, free space elsewhere, or keep the library on another disk."
        actions={elsewhere}
      />
    );
  return null;
}
