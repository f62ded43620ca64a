import { useEffect, useId, useState } from "react";
import { loadHistory } from "../benchmarks/actions";
import { useBenchmarks } from "../benchmarks/store";
import type { Job, LocalModel, RemoteModel } from "../bridge/bindings";
import { t } from "../language/text";
import { about, downloadModel, getModels, loadCatalogue, loadModel, openModels } from "../models/actions";
import { HubError } from "../models/HubError";
import { isRunning, share } from "../models/jobs";
import { LibraryError } from "../models/LibraryError";
import {
  afterwards,
  downloadFacts,
  downloadProblem,
  jobNumbers,
  line,
  spaceWarning,
  stageLabel,
} from "../models/labels";
import { AS_IS, firstChoice } from "../models/models";
import { forMachine, type Offer, offerOf } from "../models/offer";
import { SpeedPicture } from "../models/SpeedPicture";
import { bothSpeeds, highest, localSpeed, remoteSpeed, type Speed, speedLine } from "../models/speed";
import { ActionButton } from "../primitives/ActionButton";
import { bytes, explained, formatLabel } from "../primitives/format";
import { setView, useReason, useStore } from "../state/store";
import { useFocusHandOver } from "./useFocusHandOver";
import { useSpotlight } from "./useSpotlight";

/** The model to work with: the one to get, with how fast it is expected to be; the one that comes; or the one here. */
export function ModelOffer({ demo }: { demo: boolean }) {
  const offer = useOffer();
  const heading = useId();
  const part = useFocusHandOver<HTMLElement>();
  return (
    <section
      ref={part}
      aria-labelledby={heading}
      aria-busy={offer.kind === "waiting"}
      className="model-offer"
      data-testid="model-offer"
    >
      <h2 id={heading}>{t(offer.kind === "here" ? "frame-offer" : "frame-offer.get")}</h2>
      <OfferContent offer={offer} demo={demo} />
    </section>
  );
}

/** Asks for what the offer follows from, unless it is here. */
function useOffer(): Offer {
  const catalogue = useStore((state) => state.catalogue);
  const library = useStore((state) => state.library);
  const failed = useStore((state) => state.libraryError?.about === about.library);
  useEffect(() => {
    if (useStore.getState().catalogue === null) loadCatalogue(false);
    if (useBenchmarks.getState().history === null) loadHistory();
  }, []);
  return offerOf(
    catalogue?.models ?? (catalogue === null || catalogue.asking ? null : "none"),
    library ?? (failed ? "none" : null),
  );
}

function OfferContent({ offer, demo }: { offer: Offer; demo: boolean }) {
  switch (offer.kind) {
    case "waiting":
      return null;
    case "coming":
      return <Coming job={offer.job} demo={demo} />;
    case "here":
      return <Here model={offer.model} />;
    case "get":
      return <Get model={offer.model} />;
    case "none":
      return <Anything demo={demo} />;
  }
}

/** Leads to all models that there are to get. */
function OtherModels() {
  return (
    <button type="button" className="quiet-button" data-testid="get-bigger" onClick={getModels}>
      {t("frame-other-models")}
    </button>
  );
}

interface ModelProps {
  name: string;
  facts: string;
  speed: Speed | null;
}

/** The axis goes on a little behind the only speed on it. */
const BEYOND = 1.2;

/** What a model is and how fast. */
function Model({ name, facts, speed }: ModelProps) {
  return (
    <div className="offered">
      <p className="numbers">
        <strong>{name}</strong> · {facts}
      </p>
      {speed && (
        <>
          <p className="offer-speed numbers">{speedLine(speed)}</p>
          <SpeedPicture speed={speed} end={BEYOND * highest(speed)} words={bothSpeeds} />
        </>
      )}
    </div>
  );
}

function Get({ model }: { model: RemoteModel }) {
  const machine = useBenchmarks((state) => state.history?.machine ?? null);
  const library = useStore((state) => state.library);
  const [starting, setStarting] = useState(false);
  const choice = model.kind === "raw" ? firstChoice(null) : AS_IS;
  const problem = library && downloadProblem(model, library);
  const warning = library && spaceWarning(model, choice, library.place.free_bytes);
  const start = async () => {
    setStarting(true);
    await downloadModel(model.repo, choice);
    setStarting(false);
  };
  return (
    <>
      <p>{forMachine(machine)}</p>
      <Model name={model.name} facts={downloadFacts(model)} speed={remoteSpeed(model)} />
      {(problem ?? warning) && <p className="offer-note">{problem ?? warning}</p>}
      <div className="offer-actions">
        <ActionButton
          {...explained(afterwards(model, choice))}
          className="button primary"
          data-testid="download-offered"
          reason={starting ? t("frame-download.prepared") : problem}
          onClick={start}
        >
          {t("frame-download")}
        </ActionButton>
        <OtherModels />
      </div>
      <LibraryError subject={about.details(model.repo)} repo={model.repo} />
    </>
  );
}

/** How far a download is that somebody has begun. It takes the focus of the button that began it. */
function Coming({ job, demo }: { job: Job; demo: boolean }) {
  const { id, name, stage, repo } = job;
  const part = useSpotlight<HTMLElement>(about.job(id));
  const { amount, speed, left } = jobNumbers(job);
  const numbers = line(amount, speed, left);
  const label = stageLabel(stage);
  return (
    <>
      <p>{t(demo ? "frame-coming.demo" : "frame-coming")}</p>
      <section ref={part} className="offered" tabIndex={-1} aria-label={name} data-testid="offer-coming">
        <p>
          <strong>{name}</strong> · {label}
        </p>
        <progress value={share(job) ?? (isRunning(job) ? undefined : 0)} aria-label={label} />
        {numbers !== "" && <p className="offer-speed numbers">{numbers}</p>}
      </section>
      {stage.stage === "failed" && (
        <HubError error={stage.error} testId="offer-error" repo={repo} actions={<GoToJob id={id} />} />
      )}
      <div className="offer-actions">
        {stage.stage !== "failed" && !isRunning(job) && <GoToJob id={id} />}
        <OtherModels />
      </div>
    </>
  );
}

/** Leads to where a download can be told to go on. */
function GoToJob({ id }: { id: number }) {
  return (
    <button
      type="button"
      className="button"
      data-testid="open-job"
      onClick={() => {
        setView({ spotlight: about.job(id) });
        openModels();
      }}
    >
      {t("frame-download.open")}
    </button>
  );
}

function Here({ model }: { model: LocalModel }) {
  const { path, name, format } = model;
  const history = useBenchmarks((state) => state.history);
  const reason = useReason("open");
  return (
    <>
      <p>{t("frame-is-here")}</p>
      <Model
        name={name}
        facts={line(format && formatLabel(format), bytes(model.disk_bytes))}
        speed={localSpeed(model, history)}
      />
      <div className="offer-actions">
        <ActionButton
          className="button primary"
          aria-label={t("frame-use.label", { name })}
          data-testid="use-offered"
          reason={reason}
          onClick={() => loadModel(path)}
        >
          {t("frame-use")}
        </ActionButton>
        <OtherModels />
      </div>
      <LibraryError subject={about.model(path)} />
    </>
  );
}

/** Where nothing tells which one suits. */
function Anything({ demo }: { demo: boolean }) {
  return (
    <>
      <p>{t(demo ? "frame-anything.demo" : "frame-anything")}</p>
      <div className="offer-actions">
        <button type="button" className="button primary" data-testid="get-bigger" onClick={getModels}>
          {t("frame-anything.get")}
        </button>
      </div>
    </>
  );
}
