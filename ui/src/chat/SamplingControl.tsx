import { useState } from "react";
import {
  type GenerationSettings,
  MAX_TEMPERATURE,
  MAX_TOP_K,
  MAX_XTC_THRESHOLD,
  type Sampling,
} from "../bridge/bindings";
import { ActionButton } from "../primitives/ActionButton";
import { isGreedy } from "../primitives/format";
import { NumberField } from "../primitives/NumberField";
import { PopoverButton } from "../primitives/PopoverButton";
import { radios } from "../primitives/radios";
import { useGeneration, useModel, useReason } from "../state/store";
import { changeSettings } from "./settings";

/** How words are chosen. */
export function SamplingControl() {
  const generation = useGeneration();
  return (
    <PopoverButton
      label={<strong>{isGreedy(generation.sampling) ? "Greedy" : "Sampled"}</strong>}
      title="Sampling"
      testId="sampling-control"
      popupClassName="sampling"
    >
      <SamplingForm generation={generation} change={changeSettings} />
    </PopoverButton>
  );
}

interface Props {
  /** What holds now. */
  generation: GenerationSettings;
  change: (change: Partial<GenerationSettings>) => void;
}

/** Everything that says how words are chosen. */
export function SamplingForm({ generation, change }: Props) {
  const { sampling, max_tokens: maxTokens } = generation;
  const changeSampling = (of: Partial<Sampling>) => change({ sampling: { ...sampling, ...of } });
  const defaults = useModel()?.defaults;
  const reason = useReason("know");
  const greedy = isGreedy(sampling);
  // What to go back to when the person tries greedy and returns.
  const [before, setBefore] = useState<Sampling | null>(null);

  const sampled = () => {
    if (greedy) changeSampling({ ...(before ?? freely(defaults)), seed: sampling.seed });
  };
  const beGreedy = () => {
    if (greedy) return;
    setBefore(sampling);
    changeSampling({ temperature: 0 });
  };
  const check = (index: number) => (index === 0 ? beGreedy() : sampled());
  const { group, radio } = radios("How words are chosen", greedy ? 0 : 1, check);

  return (
    <>
      <div className="segments" {...group}>
        <button {...radio(0)} data-testid="sampling-greedy" onClick={beGreedy}>
          Greedy
        </button>
        <button {...radio(1)} data-testid="sampling-sampled" onClick={sampled}>
          Sampled
        </button>
      </div>
      <p className="popover-note">
        {greedy
          ? "The most likely word always wins, so the same question gets the same answer."
          : "Words are drawn by their likelihood, within the limits below."}
      </p>
      {!greedy && (
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
      <div className="fields">
        <NumberField
          label="Max tokens"
          words="The reply ends here"
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
      <div className="popover-foot">
        <ActionButton
          className="quiet-button"
          data-testid="sampling-reset"
          reason={reason}
          onClick={() => changeSampling({ ...defaults, seed: sampling.seed })}
        >
          Use the model's own values
        </ActionButton>
      </div>
    </>
  );
}

/** The model's own values, made to draw if the model's own choice is greedy. */
function freely(defaults: Sampling | undefined): Partial<Sampling> {
  if (!defaults) return { temperature: 0.7 };
  return { ...defaults, temperature: defaults.temperature === 0 ? 0.7 : defaults.temperature };
}
