import { useId } from "react";
import type { RemoteFilter, RemoteModel } from "../bridge/bindings";
import { useSpotlight } from "../frame/useSpotlight";
import { Icon } from "../primitives/icons";
import { HERE } from "../primitives/platform";
import { setView, useStore } from "../state/store";
import { about, changeFilter, endSearch, loadCatalogue, searchModels } from "./actions";
import { HubError } from "./HubError";
import { sortedByFit } from "./models";
import { RemoteRow } from "./RemoteRow";
import type { Listing } from "./view";

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

const FORMATS: { name: string; format: Pick<RemoteFilter, "kind" | "bits"> }[] = [
  { name: "Any format", format: { kind: null, bits: null } },
  { name: "As published", format: { kind: "raw", bits: null } },
  { name: "Converted", format: { kind: "converted", bits: null } },
  { name: "Converted, 8-bit", format: { kind: "converted", bits: 8 } },
  { name: "Converted, 4-bit", format: { kind: "converted", bits: 4 } },
];

/** Largest downloads to choose from, in gigabytes. */
const SIZES = [5, 10, 20, 40, 80];

function SearchForm() {
  const filter = useStore((state) => state.filter);
  const searching = useStore((state) => state.found !== null);
  const id = useId();
  return (
    <search>
      <form
        className="search-form"
        onSubmit={(event) => {
          event.preventDefault();
          searchModels();
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
            <Choice
              name="format"
              label="Format"
              value={FORMATS.findIndex(
                ({ format }) => format.kind === filter.kind && format.bits === filter.bits,
              )}
              onChange={(index) => changeFilter(FORMATS[index]?.format ?? {})}
              choices={FORMATS.map(({ name }, index) => ({ value: index, name }))}
            />
            <Choice
              name="size"
              label="Largest download"
              value={(filter.largest_download ?? 0) / 1e9}
              onChange={(size) => changeFilter({ largest_download: size === 0 ? null : size * 1e9 })}
              choices={[0, ...SIZES].map((size) => ({
                value: size,
                name: size === 0 ? "Any size" : `Up to ${size} GB`,
              }))}
            />
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

function Choice({
  name,
  label,
  value,
  onChange,
  choices,
}: {
  name: string;
  label: string;
  value: number;
  onChange: (value: number) => void;
  choices: { value: number; name: string }[];
}) {
  return (
    <div className="select-place">
      <select
        className="select"
        aria-label={label}
        value={value}
        data-testid={`filter-${name}`}
        onChange={(event) => onChange(Number(event.target.value))}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.name}
          </option>
        ))}
      </select>
      <Icon name="down" />
    </div>
  );
}

function Found({ listing }: { listing: Listing }) {
  return (
    <>
      <p className="found-line">
        <span role="status">{foundLabel(listing)}</span>
        <button type="button" className="word-button" data-testid="end-search" onClick={endSearch}>
          Back to the recommended models
        </button>
      </p>
      <Results
        listing={listing}
        waiting=""
        empty="Try fewer words or fewer filters, or the whole name as organisation/name."
        onRetry={searchModels}
      />
    </>
  );
}

function foundLabel({ models, asking, error }: Listing): string {
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
      {models && <Rows models={sortedByFit(models)} stale={asking} />}
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
