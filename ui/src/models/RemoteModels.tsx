import { useEffect } from "react";
import { useBenchmarks } from "../benchmarks/store";
import type { RemoteModel } from "../bridge/bindings";
import { useSpotlight } from "../frame/useSpotlight";
import { t } from "../language/text";
import { memory } from "../primitives/format";
import { setView, useStore } from "../state/store";
import { about, endSearch, loadCatalogue, searchModels } from "./actions";
import { HubError } from "./HubError";
import { line } from "./labels";
import { sortedByFit } from "./models";
import { RemoteRow } from "./RemoteRow";
import { SearchFilters } from "./SearchFilters";
import { SpeedLegend } from "./SpeedPicture";
import { useSpeeds } from "./useSpeeds";
import type { Listing } from "./view";

/** The models to get: those that are recommended, or what a search of the Hub finds. */
export function RemoteModels() {
  const catalogue = useStore((state) => state.catalogue);
  const found = useStore((state) => state.found);
  const section = useSpotlight<HTMLElement>(about.get, {
    block: "start",
    ready: catalogue?.asking === false,
  });
  const searching = found !== null;
  // What a search finds is looked for where it comes.
  useEffect(() => {
    if (searching) section.current?.scrollIntoView({ block: "start" });
  }, [searching, section]);
  const heading = t(searching ? "models-found-heading" : "models-recommended");
  const speeds = useSpeeds();
  const expected = (found ?? catalogue)?.models?.some((model) => speeds.remote(model)?.measured === false);
  return (
    <section ref={section} className="part" tabIndex={-1} aria-label={heading} data-testid="remote-models">
      <header className="part-head">
        <h2>{heading}</h2>
        {!searching && <MachineFacts />}
        <span className="spring" />
        {expected && <SpeedLegend measured={false} />}
      </header>
      {found === null ? (
        <Results
          listing={catalogue}
          waiting={t("models-list")}
          empty={t("models-list.empty")}
          onRetry={() => loadCatalogue(true)}
        />
      ) : (
        <Found listing={found} />
      )}
    </section>
  );
}

/** What the machine is, as far as models mind. */
function MachineFacts() {
  const machine = useBenchmarks((state) => state.history?.machine);
  if (!machine) return null;
  const words = line(machine.chip.replace(/^Apple /, ""), machine.ram_bytes > 0 && memory(machine.ram_bytes));
  return <span className="part-facts numbers">{words}</span>;
}

function Found({ listing }: { listing: Listing }) {
  return (
    <>
      <p className="found-line">
        <span role="status">{foundLabel(listing)}</span>
        <button type="button" className="word-button" data-testid="end-search" onClick={endSearch}>
          {t("models-end-search")}
        </button>
      </p>
      <SearchFilters />
      <Results listing={listing} waiting="" empty={t("models-found.advice")} onRetry={searchModels} />
    </>
  );
}

function foundLabel({ models, asking, error }: Listing): string {
  if (asking) return t("models-found.searching");
  if (error || models === null) return t("models-found.failed");
  if (models.length === 0) return t("models-found.none");
  return t("models-found", { count: models.length });
}

interface ResultsProps {
  listing: Listing | null;
  waiting: string;
  empty: string;
  onRetry: () => void;
}

function Results({ listing, waiting, empty, onRetry }: ResultsProps) {
  const { models = null, asking = true, error = null } = listing ?? {};
  return (
    <>
      {error && (
        <HubError
          error={error}
          testId="listing-error"
          actions={
            <button type="button" className="button" onClick={onRetry}>
              {t("models-try-again")}
            </button>
          }
        />
      )}
      {asking && models === null && waiting && <p className="part-empty">{waiting}</p>}
      {models?.length === 0 && !asking && <p className="part-empty">{empty}</p>}
      {models && <Rows models={sortedByFit(models)} stale={asking} />}
    </>
  );
}

function Rows({ models, stale }: { models: RemoteModel[]; stale: boolean }) {
  const speeds = useSpeeds();
  return (
    <ul className="rows" aria-busy={stale}>
      {models.map((model) => (
        <RemoteRow
          key={model.repo}
          model={model}
          speed={speeds.remote(model)}
          end={speeds.end}
          onOpen={() => setView({ details: model, libraryError: null })}
        />
      ))}
    </ul>
  );
}
