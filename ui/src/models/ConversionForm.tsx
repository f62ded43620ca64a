import type { ConversionChoice } from "../bridge/bindings";
import { Icon } from "../primitives/icons";
import { radios } from "../primitives/radios";

interface Option {
  bits: number | null;
  name: string;
  words: string;
}

const QUANTIZED: Option[] = [
  { bits: 4, name: "4-bit", words: "Recommended. The smallest and fastest, with little loss" },
  { bits: 8, name: "8-bit", words: "Twice the size, next to no loss" },
];
const PUBLISHED: Option = { bits: null, name: "None", words: "As published: the largest and slowest" };

interface Props {
  choice: ConversionChoice;
  onChange: (choice: ConversionChoice) => void;
  /** Whether leaving the weights as they are is a choice. */
  published?: boolean;
  /** Whether the original files may be removed. */
  removable: boolean;
}

/** How a model in full precision is converted. */
export function ConversionForm({ choice, onChange, published = false, removable }: Props) {
  const options = published ? [...QUANTIZED, PUBLISHED] : QUANTIZED;
  const at = options.findIndex(({ bits }) => bits === choice.bits);
  const check = (index: number) => {
    const option = options[index];
    if (option) onChange({ ...choice, bits: option.bits });
  };
  const { group, radio } = radios("Conversion", at, check);
  return (
    <div className="conversion">
      <div className="choices" {...group}>
        {options.map(({ bits, name, words }, index) => (
          <button
            {...radio(index)}
            key={name}
            className="choice"
            data-testid={`conversion-${bits ?? "none"}`}
            onClick={() => check(index)}
          >
            <span className="choice-name">{name}</span>
            <span className="choice-words">{words}</span>
            {index === at && <Icon name="check" />}
          </button>
        ))}
      </div>
      {removable && choice.bits !== null && (
        <label className="check">
          <input
            type="checkbox"
            checked={choice.keep_raw}
            data-testid="keep-raw"
            onChange={(event) => onChange({ ...choice, keep_raw: event.target.checked })}
          />
          Keep the original files after the conversion
        </label>
      )}
    </div>
  );
}
