import { useState } from "react";
import {
  type GenerationSettings,
  MAX_TEMPERATURE,
  MAX_TOP_K,
  MAX_XTC_THRESHOLD,
  type Sampling,
} from "../bridge/bindings";
import { t } from "../language/text";
import { isGreedy, samplingLabel, sentence } from "../primitives/format";
import { NumberField } from "../primitives/NumberField";
import { radios } from "../primitives/radios";
import { useModel, useReason } from "../state/store";
import { drawsAlike } from "./repliesLabel";

interface Props {
  /** What holds now. */
  generation: GenerationSettings;
  change: (change: Partial<GenerationSettings>) => void;
}

/** Everything that says how words are chosen. */
export function SamplingForm({ generation, change }: Props) {
  const { sampling, max_tokens: maxTokens } = generation;
  const changeSampling = (of: Partial<Sampling>) => change({ sampling: { ...sampling, ...of } });
  const defaults = useModel()?.defaults ?? null;
  const reason = useReason("know");
  const greedy = isGreedy(sampling);
  // Own values may be the model's for now.
  const [opened, setOpened] = useState(false);
  const own = !greedy && (opened || !(defaults && drawsAlike(sampling, defaults)));
  // What to go back to when the person tries greedy and returns.
  const [before, setBefore] = useState<Sampling | null>(null);

  const check = [
    () => {
      setOpened(false);
      if (reason === null) changeSampling({ ...defaults, seed: sampling.seed });
    },
    () => {
      setOpened(false);
      if (greedy) return;
      setBefore(sampling);
      changeSampling({ temperature: 0 });
    },
    () => {
      setOpened(true);
      if (greedy) changeSampling({ ...(before ?? freely(defaults)), seed: sampling.seed });
    },
  ];
  const at = own ? 2 : defaults && drawsAlike(sampling, defaults) ? 0 : 1;
  const { group, radio } = radios(t("reply-sampling"), at, (index) => check[index]?.());

  return (
    <>
      <div className="segments" {...group}>
        <button
          {...radio(0)}
          data-testid="sampling-model"
          aria-disabled={reason !== null || undefined}
          title={reason ?? undefined}
          onClick={check[0]}
        >
          {t("reply-sampling.model")}
        </button>
        <button {...radio(1)} data-testid="sampling-greedy" onClick={check[1]}>
          {t("reply-sampling.greedy")}
        </button>
        <button {...radio(2)} data-testid="sampling-own" onClick={check[2]}>
          {t("reply-sampling.own")}
        </button>
      </div>
      <p className="popover-note">
        {greedy
          ? t("reply-sampling.greedy-words")
          : own
            ? t("reply-sampling.own-words")
            : `${sentence(samplingLabel(sampling))} · ${sampling.seed === null ? t("reply-seed.new") : t("reply-seed", { seed: String(sampling.seed) })}`}
      </p>
      {own && (
        <div className="fields">
          <NumberField
            label={t("reply-temperature")}
            words={t("reply-temperature.words")}
            value={sampling.temperature}
            min={0.01}
            max={MAX_TEMPERATURE}
            testId="temperature"
            onChange={(value) => value !== null && changeSampling({ temperature: value })}
          />
          <NumberField
            label={t("reply-top-p")}
            words={t("reply-top-p.words")}
            value={sampling.top_p}
            min={0.01}
            max={1}
            testId="top-p"
            onChange={(value) => value !== null && changeSampling({ top_p: value })}
          />
          <NumberField
            label={t("reply-top-k")}
            words={t("reply-top-k.words")}
            value={sampling.top_k}
            min={0}
            max={MAX_TOP_K}
            whole
            testId="top-k"
            onChange={(value) => value !== null && changeSampling({ top_k: value })}
          />
          <NumberField
            label={t("reply-min-p")}
            words={t("reply-min-p.words")}
            value={sampling.min_p}
            min={0}
            max={1}
            testId="min-p"
            onChange={(value) => value !== null && changeSampling({ min_p: value })}
          />
          <NumberField
            label={t("reply-xtc-chance")}
            words={t("reply-xtc-chance.words")}
            value={sampling.xtc_probability}
            min={0}
            max={1}
            testId="xtc-probability"
            onChange={(value) => value !== null && changeSampling({ xtc_probability: value })}
          />
          {sampling.xtc_probability > 0 && (
            <NumberField
              label={t("reply-xtc-threshold")}
              words={t("reply-xtc-threshold.words")}
              value={sampling.xtc_threshold}
              min={0}
              max={MAX_XTC_THRESHOLD}
              testId="xtc-threshold"
              onChange={(value) => value !== null && changeSampling({ xtc_threshold: value })}
            />
          )}
        </div>
      )}
      <div className="fields two">
        <NumberField
          label={t("reply-longest")}
          words={t("reply-in-tokens")}
          value={maxTokens}
          min={1}
          max={1_000_000}
          whole
          testId="max-tokens"
          onChange={(value) => value !== null && change({ max_tokens: value })}
        />
        <NumberField
          label={t("reply-own-seed")}
          words={t("reply-own-seed.words")}
          value={sampling.seed}
          min={0}
          max={Number.MAX_SAFE_INTEGER}
          whole
          empty={t("reply-own-seed.empty")}
          testId="seed"
          onChange={(value) => changeSampling({ seed: value })}
        />
      </div>
    </>
  );
}

/** The model's own values, made to draw if the model's own choice is greedy. */
function freely(defaults: Sampling | null): Partial<Sampling> {
  if (!defaults) return { temperature: 0.7 };
  return { ...defaults, temperature: defaults.temperature === 0 ? 0.7 : defaults.temperature };
}
