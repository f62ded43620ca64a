import { type KeyboardEvent, type PointerEvent, useRef } from "react";
import type { SpreadPart } from "../bridge/bindings";
import { t } from "../language/text";
import { bytes } from "../primitives/format";
import { layersLabel, moved, partName, sizes, splitLabel } from "./labels";

/** How many layers the keys for more move. */
const MANY = 5;

interface Props {
  parts: SpreadPart[];
  /** How many layers each has. */
  layers: number[];
  /** Takes over how many each has after an edge was moved; none where nothing can be. */
  onMove?: (layers: number[]) => void;
}

/** How the layers of a model lie on several Macs, as one bar. */
export function SplitBar({ parts, layers, onMove }: Props) {
  const bar = useRef<HTMLDivElement>(null);
  const all = layers.reduce((sum, one) => sum + one, 0);
  const share = (layers: number) => `${(100 * layers) / all}%`;
  const before = (at: number) => layers.slice(0, at + 1).reduce((sum, one) => sum + one, 0);
  const size = sizes(parts, layers);
  return (
    <div className="split" data-testid="split">
      <div className="split-bar" ref={bar}>
        <div className="split-parts numbers" role="img" aria-label={splitLabel(parts, layers)}>
          {parts.map((part, at) => (
            <span
              key={part.key ?? ""}
              className="split-part"
              data-place={at}
              style={{ width: share(layers[at] ?? 0) }}
            >
              {layersLabel(layers[at] ?? 0)}
            </span>
          ))}
        </div>
        {onMove &&
          parts
            .slice(1)
            .map((part, at) => (
              <Edge
                key={part.key ?? ""}
                bar={bar}
                parts={parts}
                layers={layers}
                at={at}
                place={share(before(at))}
                onMove={onMove}
              />
            ))}
      </div>
      <ul className="split-key numbers">
        {parts.map((part, at) => {
          const takes = size[at] ?? 0;
          return (
            <li key={part.key ?? ""}>
              <span className="split-swatch" data-place={at} aria-hidden="true" />
              {t("macs-part", { name: partName(part), size: bytes(takes) })}
              {takes > part.usable_bytes && (
                <span className="split-much">
                  {t("macs-part.too-much", { usable: bytes(part.usable_bytes) })}
                </span>
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

interface EdgeProps extends Required<Props> {
  bar: { current: HTMLElement | null };
  /** The part before it. */
  at: number;
  /** Where it lies in the bar. */
  place: string;
}

/** What lies between two parts. Moved, it takes layers from one to the other. */
function Edge({ bar, parts, layers, at, place, onMove }: EdgeProps) {
  const drags = useRef(false);
  const [left, right] = [parts[at], parts[at + 1]];
  const now = layers[at] ?? 0;
  const both = now + (layers[at + 1] ?? 0);
  if (!left || !right) return null;
  const move = (to: number) => {
    const next = moved(layers, at, to);
    if (next[at] !== now) onMove(next);
  };
  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    drags.current = true;
  };
  const onPointerMove = (event: PointerEvent) => {
    const box = bar.current?.getBoundingClientRect();
    if (!drags.current || !box || box.width === 0) return;
    const all = layers.reduce((sum, one) => sum + one, 0);
    const before = layers.slice(0, at).reduce((sum, one) => sum + one, 0);
    move(((event.clientX - box.left) / box.width) * all - before);
  };
  const end = () => {
    drags.current = false;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const to: Record<string, number> = {
      ArrowLeft: now - 1,
      ArrowDown: now - 1,
      ArrowRight: now + 1,
      ArrowUp: now + 1,
      PageDown: now - MANY,
      PageUp: now + MANY,
      Home: 1,
      End: both - 1,
    };
    if (to[event.key] === undefined) return;
    event.preventDefault();
    move(to[event.key] ?? now);
  };
  return (
    <div
      role="slider"
      tabIndex={0}
      className="split-edge"
      style={{ insetInlineStart: place }}
      aria-orientation="horizontal"
      aria-label={t("macs-edge", { left: partName(left), right: partName(right) })}
      aria-valuemin={1}
      aria-valuemax={both - 1}
      aria-valuenow={now}
      aria-valuetext={splitLabel([left, right], [now, both - now])}
      data-testid="split-edge"
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={end}
      onPointerCancel={end}
      onKeyDown={onKeyDown}
    />
  );
}
