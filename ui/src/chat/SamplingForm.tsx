import { useState } from "react";
import {
  type GenerationSettings,
  MAX_TEMPERATURE,
  MAX_TOP_K,
  MAX_XTC_THRESHOLD,
  type Sampling,
} from "../bridge/bindings";
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
  const { group, radio } = radios("How words are chosen", at, (index) => check[index]?.());

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
          Model’s own
        </button>
        <button {...radio(1)} data-testid="sampling-greedy" onClick={check[1]}>
          Greedy
        </button>
        <button {...radio(2)} data-testid="sampling-own" onClick={check[2]}>
          Own
        </button>
      </div>
      <p className="popover-note">
        {greedy
          ? "The most likely word always wins, so the same question gets the same answer."
          : own
            ? "Words are drawn by their likelihood, within these limits."
            : `${sentence(samplingLabel(sampling))} · ${sampling.seed === null ? "a new seed each time" : `seed ${sampling.seed}`}`}
      </p>
      {own && (
        <div className="fields">
          <NumberField
            label="Temperature"
            words="Higher is freer"
            value={sampling.temperature}
            min={0.01}
            max={MAX_TEMPERATURE}
            testId="temperature"
            onChange={(value) => value !== null && changeSampling({ temperature: value })}
          />
          <NumberField
            label="Top-p"
            words="1 keeps all"
            value={sampling.top_p}
            min={0.01}
            max={1}
            testId="top-p"
            onChange={(value) => value !== null && changeSampling({ top_p: value })}
          />
          <NumberField
            label="Top-k"
            words="0 keeps all"
            value={sampling.top_k}
            min={0}
            max={MAX_TOP_K}
            whole
            testId="top-k"
            onChange={(value) => value !== null && changeSampling({ top_k: value })}
          />
          <NumberField
            label="Min-p"
            words="0 is off"
            value={sampling.min_p}
            min={0}
            max={1}
            testId="min-p"
            onChange={(value) => value !== null && changeSampling({ min_p: value })}
          />
          <NumberField
            label="XTC chance"
            words="How often top choices go"
            value={sampling.xtc_probability}
            min={0}
            max={1}
            testId="xtc-probability"
            onChange={(value) => value !== null && changeSampling({ xtc_probability: value })}
          />
          {sampling.xtc_probability > 0 && (
            <NumberField
              label="XTC threshold"
              words="Top choices are likelier"
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
          label="Longest reply"
          words="In tokens"
          value={maxTokens}
          min={1}
          max={1_000_000}
          whole
          testId="max-tokens"
          onChange={(value) => value !== null && change({ max_tokens: value })}
        />
        <NumberField
          label="Seed"
          words="Same seed, same text"
          value={sampling.seed}
          min={0}
          max={Number.MAX_SAFE_INTEGER}
          whole
          empty="new each time"
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
