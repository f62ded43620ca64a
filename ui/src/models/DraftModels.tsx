import type { DraftModelOffer, LocalDraftModel, LocalModel } from "../bridge/bindings";
import { ErrorNote } from "../frame/ErrorNote";
import { useSpotlight } from "../frame/useSpotlight";
import { RichText } from "../language/RichText";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { Icon } from "../primitives/icons";
import { MenuButton } from "../primitives/MenuButton";
import { useStore } from "../state/store";
import { about, deleteModel, forgetModel, getDraftModel, reveal } from "./actions";
import { draftModelsOf, NO_DRAFT_MODELS, offerSize, offerState } from "./draftModels";
import { LibraryError } from "./LibraryError";
import { draftModelLabel, draftRefusal, keepReason, line, offlineLabel } from "./labels";

interface Props {
  model: LocalModel;
  /** It is loaded and answers. */
  inUse: boolean;
}

/** The draft models of a model: those that are here, or the one there is to get. */
export function DraftModels({ model, inUse }: Props) {
  const all = useStore((state) => state.library?.draft_models ?? NO_DRAFT_MODELS);
  const drafts = draftModelsOf(all, model.path);
  const offer = model.draft_model_offer;
  if (drafts.length === 0 && offer === null) return null;
  return (
    <ul className="drafts" aria-label={t("models-draft-of", { name: model.name })}>
      {drafts.map((draft) => (
        <DraftModelRow
          key={draft.path}
          draft={draft}
          title={t("models-draft", { name: draft.name })}
          words={<Use draft={draft} model={model} inUse={inUse} />}
        />
      ))}
      {offer !== null && <OfferRow offer={offer} model={model} />}
    </ul>
  );
}

/** Draft models of which no model is here. */
export function LonelyDraftModels() {
  const all = useStore((state) => state.library?.draft_models ?? NO_DRAFT_MODELS);
  const lonely = all.filter(({ targets, origin }) => targets.length === 0 && origin !== "built_in");
  if (lonely.length === 0) return null;
  return (
    <section aria-label={t("models-lonely-drafts")} data-testid="lonely-draft-models">
      <p className="group-name">{t("models-lonely-drafts")}</p>
      <ul className="rows">
        {lonely.map((draft) => (
          <DraftModelRow key={draft.path} draft={draft} title={draft.name} className="row" />
        ))}
      </ul>
    </section>
  );
}

interface RowProps {
  draft: LocalDraftModel;
  title: string;
  /** What else is to be said. */
  words?: React.ReactNode;
  className?: string;
}

function DraftModelRow({ draft, title, words, className }: RowProps) {
  const { path, name, state, origin, repo } = draft;
  const row = useSpotlight<HTMLLIElement>(about.model(path));
  const offline = state.state === "offline" ? t("models-is-offline") : null;
  const keep = keepReason(origin, false) ?? offline;
  return (
    <li ref={row} className={className} tabIndex={-1} data-testid="draft-model">
      <div className="row-line">
        <div className="row-text">
          <p className="draft-line">
            <span className="draft-name" title={path}>
              {title}
            </span>
            <span className="row-words numbers">{draftModelLabel(draft)}</span>
          </p>
          {state.state === "offline" && <p className="row-words">{offlineLabel(origin, path)}</p>}
          {words}
          {draft.update_available && repo !== null && (
            <p className="row-words">
              <RichText
                id="models-newer-draft"
                parts={{
                  get: (words) => (
                    <button
                      type="button"
                      className="word-button"
                      onClick={() => getDraftModel(repo, about.model(path))}
                    >
                      {words}
                    </button>
                  ),
                }}
              />
            </p>
          )}
        </div>
        <div className="row-actions">
          <MenuButton
            label={t("models-more-for", { name })}
            testId="draft-model-more"
            entries={[
              { name: t("word-show-folder"), reason: offline, onSelect: () => reveal(path) },
              origin === "folder"
                ? { name: t("models-remove-from-list"), reason: null, onSelect: () => forgetModel(path) }
                : { name: t("models-delete"), reason: keep, onSelect: () => deleteModel(path) },
            ]}
          >
            <Icon name="more" />
          </MenuButton>
        </div>
      </div>
      {state.state === "broken" && <ErrorNote error={state.error} testId="broken-draft-model" />}
      <LibraryError subject={about.model(path)} repo={repo} />
    </li>
  );
}

/** Why a model does not guess with this draft model, if it does not. */
function Use({ draft, model, inUse }: Props & { draft: LocalDraftModel }) {
  const engine = useStore((state) => state.engine);
  const loaded = inUse && engine.state === "ready" ? engine.model : null;
  const refused = loaded && draftRefusal(loaded);
  if (model.draft_model !== draft.path) return <p className="row-words">{t("models-draft-not-used")}</p>;
  if (loaded === null || loaded.draft_model?.path === draft.path) return null;
  return (
    <p className="row-words" data-testid="draft-model-waits">
      {refused ?? t("models-draft-waits")}
    </p>
  );
}

function OfferRow({ offer, model }: { offer: DraftModelOffer; model: LocalModel }) {
  return (
    <li data-testid="draft-model-offer">
      <div className="row-line">
        <div className="row-text">
          <p className="draft-line">
            <span className="draft-name">{t("models-draft.none")}</span>
          </p>
          <p className="row-words">{t("models-draft-offer", { name: offer.name })}</p>
        </div>
        <div className="row-actions">
          <GetDraftModel offer={offer} subject={about.draftOf(model.path)} />
        </div>
      </div>
      <LibraryError subject={about.draftOf(model.path)} repo={offer.repo} />
    </li>
  );
}

interface GetProps {
  offer: DraftModelOffer;
  /** What an error is about. */
  subject: string;
  /** The size is said beside it. */
  short?: boolean;
}

/** Begins the download of a draft model; then says how far it is. */
export function GetDraftModel({ offer, subject, short = false }: GetProps) {
  const library = useStore((state) => state.library);
  const { words, reason } = offerState(offer, library);
  if (words !== null) return <span className="row-state numbers">{words}</span>;
  const label = line(t("models-get"), !short && offerSize(offer));
  return (
    <ActionButton
      className="button numbers"
      data-testid="get-draft-model"
      aria-label={t("models-action-of", { action: label, name: offer.name })}
      reason={reason}
      onClick={() => getDraftModel(offer.repo, subject)}
    >
      {label}
    </ActionButton>
  );
}
