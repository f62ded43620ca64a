import type { CSSProperties } from "react";
import type { LocalModel } from "../bridge/bindings";
import { t } from "../language/text";
import { commas } from "../primitives/format";
import { closenessWords, memoryWords, type Stop, sizeWords, speedWordsOf, valueText } from "./quality";

interface Props {
  /** The original. */
  model: LocalModel;
  stops: Stop[];
  at: number;
  onChoose: (stop: Stop) => void;
}

/** Names that are nearer to each other than this, in stops, stand on two lines. */
const NEAR = 4;

/** One slider over the sizes that a model can be converted to. Filled dots are measured, hollow ones expected. */
export function QualitySlider({ model, stops, at, onChoose }: Props) {
  const stop = stops[at];
  const last = stops.length - 1;
  if (!stop) return null;
  const place = (index: number) => ({ "--at": last > 0 ? index / last : 0 }) as CSSProperties;
  const named = stops.map((one, index) => ({ ...one, index })).filter(({ names }) => names.length > 0);
  const words = [
    memoryWords(model.fit, model.disk_bytes, stop),
    speedWordsOf(model.parameters, stop),
    stop.model && t("model-size-here", { name: stop.model.name }),
  ];
  return (
    <div className="quality">
      <div className="quality-track">
        <input
          type="range"
          aria-label={t("model-slider")}
          aria-valuetext={valueText(stop)}
          data-testid="quality-slider"
          min={0}
          max={last}
          step={1}
          value={at}
          onChange={(event) => {
            const next = stops[event.target.valueAsNumber];
            if (next) onChoose(next);
          }}
        />
        {stops.map(({ bytes, model: made }, index) => (
          <span
            key={bytes}
            className={made ? "quality-dot measured" : "quality-dot"}
            style={place(index)}
            aria-hidden="true"
          />
        ))}
      </div>
      <div className="quality-names">
        {named.map(({ bytes, names, index }, order) => {
          const before = named[order - 1]?.index;
          const low = order % 2 === 1 && before !== undefined && index - before < NEAR;
          return (
            <button
              type="button"
              key={bytes}
              className={low ? "quality-name low" : "quality-name"}
              style={place(index)}
              aria-pressed={index === at}
              data-testid={`quality-${order}`}
              onClick={() => stops[index] && onChoose(stops[index])}
            >
              {commas(names)}
            </button>
          );
        })}
      </div>
      <div className="quality-words numbers" data-testid="quality-words">
        <p className="quality-size">{sizeWords(stop)}</p>
        <p>{closenessWords(stop)}</p>
        {words.map((line) => line && <p key={line}>{line}</p>)}
      </div>
    </div>
  );
}
