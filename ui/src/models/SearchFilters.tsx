import type { RemoteFilter } from "../bridge/bindings";
import { t } from "../language/text";
import { Icon } from "../primitives/icons";
import { useStore } from "../state/store";
import { changeFilter } from "./actions";

const FORMATS: Pick<RemoteFilter, "kind" | "bits">[] = [
  { kind: null, bits: null },
  { kind: "raw", bits: null },
  { kind: "converted", bits: null },
  { kind: "converted", bits: 8 },
  { kind: "converted", bits: 4 },
];

function formatName({ kind, bits }: Pick<RemoteFilter, "kind" | "bits">): string {
  if (kind === null) return t("models-filter-format.any");
  if (kind === "raw") return t("models-filter-format.published");
  return bits === null ? t("models-filter-format.converted") : t("models-filter-format.bits", { bits });
}

/** Largest downloads to choose from, in gigabytes. */
const SIZES = [5, 10, 20, 40, 80];

/** Which of what is found is listed. */
export function SearchFilters() {
  const filter = useStore((state) => state.filter);
  return (
    <div className="filters">
      <Check name="with_mtp" label={t("models-filter-mtp")} filter={filter} />
      <Check name="fitting" label={t("models-filter-fitting")} filter={filter} />
      <span className="spring" />
      <Choice
        name="format"
        label={t("models-filter-format")}
        value={FORMATS.findIndex(({ kind, bits }) => kind === filter.kind && bits === filter.bits)}
        onChange={(index) => changeFilter(FORMATS[index] ?? {})}
        choices={FORMATS.map((format, index) => ({ value: index, name: formatName(format) }))}
      />
      <Choice
        name="size"
        label={t("models-filter-size")}
        value={(filter.largest_download ?? 0) / 1e9}
        onChange={(size) => changeFilter({ largest_download: size === 0 ? null : size * 1e9 })}
        choices={[0, ...SIZES].map((size) => ({
          value: size,
          name: size === 0 ? t("models-filter-size.any") : t("models-filter-size.up-to", { size }),
        }))}
      />
    </div>
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
