import { useEffect, useState } from "react";
import type { ConversionChoice, ErrorReport, RemoteModel } from "../bridge/bindings";
import { reportOf, shell } from "../bridge/bridge";
import { ErrorNote } from "../frame/ErrorNote";
import { t } from "../language/text";
import { Markdown } from "../markdown/Markdown";
import { ActionButton } from "../primitives/ActionButton";
import { Fact } from "../primitives/Fact";
import { bytes, sentence, sentences } from "../primitives/format";
import { Sheet } from "../primitives/Sheet";
import { setView, useReason, useStore } from "../state/store";
import { about, closeDetails, downloadModel, loadModel } from "./actions";
import { ConversionForm } from "./ConversionForm";
import { whereabouts } from "./jobs";
import { LibraryError } from "./LibraryError";
import {
  afterwards,
  downloadProblem,
  fitSentence,
  parameterLabel,
  remoteMtp,
  remoteSight,
  spaceWarning,
  stageLabel,
  verdictLabel,
} from "./labels";
import { AS_IS, firstChoice } from "./models";
import { remoteSpeed, speedWords } from "./speed";

/** All that is known of the model of the Hub that is looked at, and how to get it. */
export function RemoteDetails() {
  const model = useStore((state) => state.details);
  // What is shown stays while the sheet closes.
  const [shown, setShown] = useState(model);
  if (model !== null && model !== shown) setShown(model);
  if (!shown) return null;
  return <Details key={shown.repo} model={shown} open={model !== null} />;
}

function Details({ model, open }: { model: RemoteModel; open: boolean }) {
  const [choice, setChoice] = useState(() =>
    firstChoice(whereabouts(model, useStore.getState().library).local),
  );
  const raw = model.kind === "raw";
  const { weights } = choice;
  const judged = raw && !(weights.kind === "bits" && weights.bits === 4) && model.fit;
  return (
    <Sheet
      open={open}
      onClose={closeDetails}
      title={model.name}
      testId="model-details"
      foot={<Foot model={model} choice={raw ? choice : AS_IS} />}
    >
      <p className="sheet-repo">{model.repo}</p>
      {model.summary && <p className="sheet-words">{t("models-summary", { summary: model.summary })}</p>}
      <Facts model={model} />
      {raw && (
        <section aria-label={t("models-conversion")}>
          <h3>{t("models-conversion")}</h3>
          <ConversionForm
            weights={weights}
            onWeights={(weights) => setChoice({ ...choice, weights })}
            published
            keepRaw={choice.keep_raw}
            onKeepRaw={(keep_raw) => setChoice({ ...choice, keep_raw })}
          />
        </section>
      )}
      <section aria-label={t("models-afterwards")}>
        <h3>{t("models-afterwards")}</h3>
        <p className="sheet-words numbers">
          {sentences(afterwards(model, choice), judged && t("models-conversion.judged"))}
        </p>
      </section>
      <Card repo={model.repo} />
    </Sheet>
  );
}

function Facts({ model }: { model: RemoteModel }) {
  const { fit } = model;
  const speed = remoteSpeed(model);
  const sight = remoteSight(model);
  return (
    <dl className="facts numbers">
      <Fact name={t("models-fact-fit")}>
        {fit
          ? t("models-verdict", { verdict: verdictLabel(fit), why: fitSentence(fit) })
          : t("models-too-little-known")}
      </Fact>
      <Fact name={t("models-fact-download")}>
        {model.download_bytes === null ? t("models-not-known") : bytes(model.download_bytes)}
      </Fact>
      <Fact name={t("models-fact-size")}>
        {parameterLabel(model.parameters, model.active_parameters) ?? t("models-not-known")}
      </Fact>
      <Fact name={t("models-fact-format")}>{model.format ?? t("models-not-known")}</Fact>
      <Fact name={t("models-fact-drafts")}>{remoteMtp(model.mtp)}</Fact>
      {sight && <Fact name={t("models-fact-pictures")}>{sentence(sight)}</Fact>}
      {speed && (
        <Fact name={t("models-fact-speed")}>{t("models-speed-expected", { speed: speedWords(speed) })}</Fact>
      )}
      <Fact name={t("models-fact-licence")}>{model.licence ?? t("models-see-card")}</Fact>
    </dl>
  );
}

/** The one thing to do next, and why it may not be possible. */
function Foot({ model, choice }: { model: RemoteModel; choice: ConversionChoice }) {
  const library = useStore((state) => state.library);
  const { local, job } = whereabouts(model, library);
  const openReason = useReason("open");
  const [starting, setStarting] = useState(false);
  const warning = library && spaceWarning(model, choice, library.place.free_bytes);

  const start = async () => {
    setStarting(true);
    await downloadModel(model.repo, choice);
    setStarting(false);
  };
  const use = (path: string) => {
    setView({ details: null, spotlight: about.model(path) });
    loadModel(path);
  };

  if (job)
    return (
      <p className="sheet-state" role="status">
        {t("models-in-queue", { stage: stageLabel(job.stage) })}
      </p>
    );
  if (local && !local.update_available)
    return (
      <>
        <span className="sheet-state">{t("models-is-here")}</span>
        <span className="spring" />
        {local.state.state === "ready" && (
          <ActionButton className="button primary" reason={openReason} onClick={() => use(local.path)}>
            {t("models-use")}
          </ActionButton>
        )}
      </>
    );
  const words = local
    ? t("models-download.newer")
    : model.fit?.verdict === "too_big"
      ? t("models-download.anyway")
      : t("models-download");
  const reason = starting ? t("models-download.starting") : library && downloadProblem(model, library);
  return (
    <>
      <LibraryError subject={about.details(model.repo)} repo={model.repo} />
      {(reason ?? warning) && <span className="sheet-state">{reason ?? warning}</span>}
      <span className="spring" />
      <ActionButton className="button primary" data-testid="download" reason={reason} onClick={start}>
        {words}
      </ActionButton>
    </>
  );
}

type CardState = { text: string } | { error: ErrorReport } | null;

/** What the model's makers write about it, as text. */
function Card({ repo }: { repo: string }) {
  const [card, setCard] = useState<CardState>(null);
  useEffect(() => {
    let wanted = true;
    shell.modelCard(repo).then(
      (text) => wanted && setCard({ text }),
      (error) => wanted && setCard({ error: reportOf(error) }),
    );
    return () => {
      wanted = false;
    };
  }, [repo]);
  return (
    <section className="card" aria-label={t("models-card")} data-testid="model-card">
      <h3>{t("models-card.heading")}</h3>
      {card === null ? (
        <p className="soft">{t("models-card.fetching")}</p>
      ) : "error" in card ? (
        <ErrorNote error={card.error} />
      ) : card.text.trim() === "" ? (
        <p className="soft">{t("models-card.none")}</p>
      ) : (
        <Markdown text={card.text} complete />
      )}
    </section>
  );
}
