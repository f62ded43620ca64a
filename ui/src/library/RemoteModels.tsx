import { useId } from "react";
import type { ModelKind, RemoteFilter, RemoteModel } from "../bindings";
import { Icon } from "../components/icons";
import { HERE } from "../platform";
import { radios } from "../radios";
import { type Listing, setView, useStore } from "../store";
import { about, changeFilter, endSearch, loadCatalogue, search } from "./actions";
import { HubError } from "./HubError";
import { inOrder } from "./models";
import { RemoteRow } from "./RemoteRow";
import { useSpotlight } from "./useSpotlight";

/** The models to get: those that are recommended, or what a search of the Hub finds. */
export function RemoteModels() {
  const catalogue = useStore((state) => state.catalogue);
  const found = useStore((state) => state.found);
  const section = useSpotlight<HTMLElement>(about.get, {
    block: "start",
    ready: catalogue?.asking === false,
  });
  return (
    <section ref={section} className="part" tabIndex={-1} aria-label="Get models" data-testid="remote-models">
      <header className="part-head">
        <h2>Get models</h2>
        <span className="spring" />
        {found === null && (
          <button
            type="button"
            className="quiet-button"
            data-testid="refresh-catalogue"
            onClick={() => loadCatalogue(true)}
          >
            Check for updates
          </button>
        )}
      </header>
      <SearchForm />
      {found === null ? (
        <Results
          listing={catalogue}
          waiting="The list is being fetched."
          empty="The list of models is empty."
          onRetry={() => loadCatalogue(true)}
        />
      ) : (
        <Found listing={found} />
      )}
    </section>
  );
}

const KINDS: { kind: ModelKind | null; name: string }[] = [
  { kind: null, name: "Any" },
  { kind: "raw", name: "As published" },
  { kind: "converted", name: "Converted" },
];

function SearchForm() {
  const filter = useStore((state) => state.filter);
  const searching = useStore((state) => state.found !== null);
  const id = useId();
  const at = KINDS.findIndex(({ kind }) => kind === filter.kind);
  const check = (index: number) => changeFilter({ kind: KINDS[index]?.kind ?? null });
  const { group, radio } = radios("Kind", at, check);
  return (
    <search>
      <form
        className="search-form"
        onSubmit={(event) => {
          event.preventDefault();
          search();
        }}
      >
        <div className="search-field">
          <Icon name="search" />
          <input
            id={id}
            type="search"
            aria-label="Search Hugging Face"
            placeholder="Search Hugging Face"
            autoComplete="off"
            spellCheck={false}
            value={filter.text}
            data-testid="search"
            onChange={(event) => changeFilter({ text: event.target.value })}
            onKeyDown={(event) => {
              if (event.key !== "Escape" || (filter.text === "" && !searching)) return;
              event.preventDefault();
              event.stopPropagation();
              endSearch();
            }}
          />
          <button type="submit" className="button" data-testid="search-now">
            Search
          </button>
        </div>
        {searching && (
          <div className="filters">
            <Check name="with_mtp" label="With MTP head" filter={filter} />
            <Check name="fitting" label={`Runs on ${HERE}`} filter={filter} />
            <span className="spring" />
            <div className="segments kinds" {...group}>
              {KINDS.map(({ name }, index) => (
                <button {...radio(index)} key={name} onClick={() => check(index)}>
                  {name}
                </button>
              ))}
            </div>
          </div>
        )}
      </form>
    </search>
  );
}

function Check({
  name,
  label,
  filter,
}: {
  name: "with_mtp" | "fitting";
  label: string;
  filter: RemoteFilter;
}) {
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={filter[name]}
        data-testid={`filter-${name}`}
        onChange={(event) => changeFilter({ [name]: event.target.checked })}
      />
      {label}
    </label>
  );
}

function Found({ listing }: { listing: Listing }) {
  return (
    <>
      <p className="found-line">
        <span role="status">{foundWords(listing)}</span>
        <button type="button" className="word-button" data-testid="end-search" onClick={endSearch}>
          Back to the recommended models
        </button>
      </p>
      <Results
        listing={listing}
        waiting=""
        empty="Try fewer words or fewer filters, or the whole name as organisation/name."
        onRetry={search}
      />
    </>
  );
}

function foundWords({ models, asking, error }: Listing): string {
  if (asking) return "Searching…";
  if (error || models === null) return "The search failed.";
  if (models.length === 0) return "Nothing was found that Foretoken runs.";
  return models.length === 1 ? "One model was found." : `${models.length} models were found.`;
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
        <HubError error={error} testId="listing-error">
          <button type="button" className="button" onClick={onRetry}>
            Try again
          </button>
        </HubError>
      )}
      {asking && models === null && waiting && <p className="part-empty">{waiting}</p>}
      {models?.length === 0 && !asking && <p className="part-empty">{empty}</p>}
      {models && <Rows models={inOrder(models)} stale={asking} />}
    </>
  );
}

function Rows({ models, stale }: { models: RemoteModel[]; stale: boolean }) {
  return (
    <ul className="rows" aria-busy={stale}>
      {models.map((model) => (
        <RemoteRow
          key={model.repo}
          model={model}
          onOpen={() => setView({ details: model, libraryError: null })}
        />
      ))}
    </ul>
  );
}
