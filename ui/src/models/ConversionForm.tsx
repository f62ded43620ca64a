import type { Weights } from "../bridge/bindings";
import { t } from "../language/text";
import { Icon } from "../primitives/icons";
import { radios } from "../primitives/radios";

interface Option {
  key: string;
  /** What is asked for; null for a size that is chosen by quality. */
  weights: Weights | null;
  name: string;
  words: string;
}

const quantized = (): Option[] => [
  {
    key: "4",
    weights: { kind: "bits", bits: 4 },
    name: "4-bit",
    words: t("model-convert-4-bit"),
  },
  {
    key: "8",
    weights: { kind: "bits", bits: 8 },
    name: "8-bit",
    words: t("model-convert-8-bit"),
  },
];
const asPublished = (): Option => ({
  key: "none",
  weights: { kind: "published" },
  name: t("model-convert-none"),
  words: t("model-convert-none.words"),
});
const byQuality = (): Option => ({
  key: "quality",
  weights: null,
  name: t("model-convert-quality"),
  words: t("model-convert-quality.words"),
});

interface Props {
  /** What is asked for; null while it is a size by quality that is not chosen yet. */
  weights: Weights | null;
  onWeights: (weights: Weights) => void;
  /** Whether leaving the weights as they are is a choice. */
  published?: boolean;
  /** A size is to be chosen by quality, where that is a choice. */
  onQuality?: () => void;
  /** Whether the original files stay; null where they always do. */
  keepRaw: boolean | null;
  onKeepRaw: (keep: boolean) => void;
}

/** Whether two ask for the same, whatever the size. */
function isSame(a: Weights | null, b: Weights | null): boolean {
  const [one, other] = [a?.kind ?? "chosen", b?.kind ?? "chosen"];
  if (a?.kind === "bits" && b?.kind === "bits") return a.bits === b.bits;
  return one === other;
}

/** How a model in full precision is converted. */
export function ConversionForm({ weights, onWeights, published, onQuality, keepRaw, onKeepRaw }: Props) {
  const options = [
    ...quantized(),
    ...(onQuality ? [byQuality()] : []),
    ...(published ? [asPublished()] : []),
  ];
  const at = options.findIndex((option) => isSame(option.weights, weights));
  const check = (index: number) => {
    const option = options[index];
    if (option?.weights === null) onQuality?.();
    else if (option) onWeights(option.weights);
  };
  const { group, radio } = radios(t("model-conversion"), at, check);
  return (
    <div className={onQuality ? "conversion with-quality" : "conversion"}>
      <div className="choices" {...group}>
        {options.map(({ key, name, words }, index) => (
          <button
            {...radio(index)}
            key={key}
            className="choice"
            data-testid={`conversion-${key}`}
            onClick={() => check(index)}
          >
            <span className="choice-name">{name}</span>
            <span className="choice-words">{words}</span>
            {index === at && <Icon name="check" />}
          </button>
        ))}
      </div>
      {keepRaw !== null && weights?.kind !== "published" && (
        <label className="check">
          <input
            type="checkbox"
            checked={keepRaw}
            data-testid="keep-raw"
            onChange={(event) => onKeepRaw(event.target.checked)}
          />
          {t("model-keep-original")}
        </label>
      )}
    </div>
  );
}
