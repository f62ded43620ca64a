import { useState } from "react";
import type { LibraryPlace, LibrarySnapshot } from "../bridge/bindings";
import { SignedNote } from "../frame/SignedNote";
import { useSpotlight } from "../frame/useSpotlight";
import { RichText } from "../language/RichText";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { bytes } from "../primitives/format";
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
      aria-label={t("models-storage")}
      tabIndex={-1}
      ref={target}
      data-testid="storage"
    >
      <header className="part-head">
        <h2>{t("models-storage")}</h2>
      </header>
      <ul className="rows">
        <PlaceRow place={place} />
        <SmallerMemory />
        <li className="row">
          <div className="row-line">
            <div className="row-text">
              <h3 className="row-name">{t("models-token")}</h3>
              <p className="row-words" data-testid="token-state">
                {t(hasToken ? "models-token.set" : "models-token.not-set")}
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
                  {t("models-token.remove")}
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
          <h3 className="row-name">{t("models-place")}</h3>
          <p className="row-words path">{place.path}</p>
          <p className="row-words numbers">
            {place.online
              ? t("models-place.space", { used: bytes(place.used_bytes), free: bytes(place.free_bytes) })
              : t("models-place.away")}
          </p>
        </div>
        <div className="row-actions">
          {place.online && (
            <button type="button" className="button" onClick={() => reveal(place.path, about.place)}>
              {t("word-show-folder")}
            </button>
          )}
          <button type="button" className="button" data-testid="change-place" onClick={chooseLibraryFolder}>
            {t("models-place.change")}
          </button>
        </div>
      </div>
      {target !== null && (
        <div className="confirm" role="status" data-testid="confirm-move">
          <p className="numbers">
            <RichText
              id={place.online ? "models-move" : "models-move.away"}
              args={{ path: target, used: bytes(place.used_bytes) }}
              parts={{ path: (words) => <span className="path">{words}</span> }}
            />
          </p>
          <div className="actions">
            <ActionButton
              className="button"
              data-testid="move-library"
              reason={moving ? t("models-move.preparing") : null}
              onClick={() => move(target)}
            >
              {t("models-move.now")}
            </ActionButton>
            <button type="button" className="button" onClick={leave}>
              {t("models-move.leave")}
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
      {t("models-another-place")}
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
        message={t("models-disk-full", { free: bytes(place.free_bytes) })}
        hint={t("models-disk-full.hint")}
        actions={elsewhere}
      />
    );
  return null;
}
