import { useState } from "react";
import type { SpreadModel } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { ErrorNote } from "../frame/ErrorNote";
import { t } from "../language/text";
import { line } from "../models/labels";
import { ActionButton } from "../primitives/ActionButton";
import { bytes, formatLabel } from "../primitives/format";
import { useDeed } from "../settings/useDeed";
import { useReason, useStore } from "../state/store";
import { modelOf } from "./labels";
import { SplitBar } from "./SplitBar";

/** The models that are loaded over several Macs, and how their layers lie there. */
export function SpreadModels({ spread }: { spread: SpreadModel[] }) {
  if (spread.length === 0) return null;
  return (
    <section className="settings-group" aria-label={t("macs-together")} data-testid="macs-together">
      <h2>{t("macs-together")}</h2>
      <div className="spread-models">
        {spread.map((model) => (
          // Loaded anew, it lies as it was loaded.
          <Spread key={`${model.path} ${model.parts.map(({ layers }) => layers)}`} model={model} />
        ))}
      </div>
    </section>
  );
}

function Spread({ model }: { model: SpreadModel }) {
  const { path, parts } = model;
  const lies = parts.map((part) => part.layers);
  const [layers, setLayers] = useState(lies);
  const { busy, error, run } = useDeed();
  const local = useStore((state) => state.library?.models.find((known) => known.path === path));
  const loading = useReason("open");
  const reason = busy ? t("state-loading") : loading;
  const isMoved = layers.some((one, at) => one !== lies[at]);
  const size = parts.reduce((sum, part) => sum + part.bytes, 0);
  const name = local?.name ?? modelOf(model);
  return (
    <article className="spread" aria-label={name} data-testid="spread-model">
      <p className="spread-head numbers">
        <strong>{name}</strong>
        <span>{line(local?.format ? formatLabel(local.format) : null, bytes(size))}</span>
      </p>
      <SplitBar parts={parts} layers={layers} onMove={setLayers} />
      {error && <ErrorNote error={error} testId="spread-error" />}
      <div className="spread-foot">
        {!isMoved && <span className="soft">{t("macs-together.drag")}</span>}
        <span className="spring" />
        {isMoved && (
          <>
            <button
              type="button"
              className="quiet-button"
              data-testid="layers-back"
              onClick={() => setLayers(lies)}
            >
              {t("macs-together.as-it-was")}
            </button>
            <ActionButton
              className="button"
              data-testid="load-with-layers"
              reason={reason}
              onClick={() => run(() => shell.loadSpread(path, layers))}
            >
              {t("macs-together.with-layers")}
            </ActionButton>
          </>
        )}
        <ActionButton
          className="button"
          data-testid="load-alone"
          reason={reason}
          onClick={() => run(() => shell.loadAlone(path))}
        >
          {t("macs-together.alone")}
        </ActionButton>
      </div>
    </article>
  );
}
