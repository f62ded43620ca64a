import type { RemoteFilter } from "../bridge/bindings";
import { Icon } from "../primitives/icons";
import { HERE } from "../primitives/platform";
import { useStore } from "../state/store";
import { changeFilter } from "./actions";

const FORMATS: { name: string; format: Pick<RemoteFilter, "kind" | "bits"> }[] = [
  { name: "Any format", format: { kind: null, bits: null } },
  { name: "As published", format: { kind: "raw", bits: null } },
  { name: "Converted", format: { kind: "converted", bits: null } },
  { name: "Converted, 8-bit", format: { kind: "converted", bits: 8 } },
  { name: "Converted, 4-bit", format: { kind: "converted", bits: 4 } },
];

/** Largest downloads to choose from, in gigabytes. */
const SIZES = [5, 10, 20, 40, 80];

/** Which of what is found is listed. */
export function SearchFilters() {
  const filter = useStore((state) => state.filter);
  return (
    <div className="filters">
      <Check name="with_mtp" label="With MTP head" filter={filter} />
      <Check name="fitting" label={`Runs on ${HERE}`} filter={filter} />
      <span className="spring" />
      <Choice
        name="format"
        label="Format"
        value={FORMATS.findIndex(({ format }) => format.kind === filter.kind && format.bits === filter.bits)}
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
