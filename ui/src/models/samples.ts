import type {
  Evidence,
  Fit,
  FitVerdict,
  Job,
  JobStage,
  LibrarySnapshot,
  LocalDraftModel,
  LocalModel,
  ModelInfo,
  OfferedSize,
  QualityOffer,
  RemoteModel,
} from "../bridge/bindings";
import { useStore } from "../state/store";

// What the tests of this folder are about, each with what does not matter filled in.

export const fitOf = (verdict: FitVerdict, need_bytes = 7e9, available_bytes = 12e9): Fit => ({
  verdict,
  need_bytes,
  available_bytes,
  context: 8192,
});

export const local = (path: string, more: Partial<LocalModel> = {}): LocalModel => ({
  path,
  name: path.slice(1),
  origin: "library",
  repo: null,
  revision: null,
  state: { state: "ready" },
  disk_bytes: 1e9,
  last_used: null,
  parameters: 4.3e9,
  format: "4-bit",
  mtp: { state: "present", tensors: 15, format: "bfloat16", declared: true },
  sight: "none",
  fit: fitOf("fits_well"),
  update_available: false,
  tuning: null,
  expected: null,
  draft_model: null,
  draft_model_offer: null,
  evidence: null,
  original: null,
  ...more,
});

/** A draft model of the model in `target`. */
export const draftModel = (
  path: string,
  target: string,
  more: Partial<LocalDraftModel> = {},
): LocalDraftModel => ({
  path,
  name: path.slice(1),
  origin: "library",
  repo: null,
  state: { state: "ready" },
  disk_bytes: 1.07e9,
  format: "bfloat16",
  most_guesses: 15,
  made_for: target.slice(1),
  targets: [target],
  update_available: false,
  ...more,
});

/** A model that is loaded. */
export const modelInfo = (path: string, more: Partial<ModelInfo> = {}): ModelInfo => ({
  name: path.slice(1),
  path,
  architecture: "qwen3_5",
  parameters: 1,
  format: "bfloat16",
  mtp: { state: "present", tensors: 15, format: "bfloat16", declared: true },
  context_length: 1,
  defaults: useStore.getInitialState().settings.sampling,
  thinking: true,
  thinking_effort: false,
  opens_thinking: false,
  tools: false,
  json_calls: false,
  pictures: { state: "unavailable", reason: { kind: "text_alone" } },
  fingerprint: "c0ffee00",
  weight_bytes: 1,
  kv_precision: "full",
  draft_model: null,
  draft_model_refused: null,
  macs: [],
  notes: [],
  ...more,
});

export const remote = (repo: string, more: Partial<RemoteModel> = {}): RemoteModel => ({
  repo,
  name: repo,
  summary: "",
  licence: "apache-2.0",
  parameters: 4e9,
  active_parameters: null,
  format: "bfloat16",
  kind: "raw",
  download_bytes: 8e9,
  mtp: true,
  sight: "none",
  fit: fitOf("fits_well"),
  expected: null,
  recommended: false,
  installed: null,
  ...more,
});

export const job = (id: number, stage: JobStage, more: Partial<Job> = {}): Job => ({
  id,
  name: `Model ${id}`,
  repo: `org/model-${id}`,
  model: null,
  kind: "download",
  followed_by: [],
  stage,
  done: 0,
  total: 0,
  bytes_per_second: null,
  seconds_left: null,
  files: [],
  note: null,
  ...more,
});

/** A measurement of a conversion by quality. */
export const evidenceOf = (kl: number, more: Partial<Evidence> = {}): Evidence => ({
  tokens: 3439,
  kl,
  kl_error: kl / 8,
  kl_p99: 9 * kl,
  same_choice: 0.968,
  before: { perplexity: 7.39, drafts_accepted: 0.631 },
  after: { perplexity: 7.46, drafts_accepted: 0.617 },
  text: "built_in",
  bytes: null,
  bits_per_weight: 4.3,
  matrices: [
    { bits: 3, count: 41 },
    { bits: 4, count: 120 },
    { bits: 5, count: 38 },
    { bits: null, count: 3 },
  ],
  ...more,
});

/** What a model of so many parameters can be converted to, in so many bits a weight. */
export function sizesOf(parameters: number, bits: number[]): QualityOffer {
  const point = (bits_per_weight: number): OfferedSize => ({
    bytes: Math.round((parameters * bits_per_weight) / 8),
    bits_per_weight,
    expected_kl: 4 ** -bits_per_weight * 10,
  });
  const points = bits.map(point);
  const at = (share: number) => points[Math.round(share * (points.length - 1))] ?? point(4);
  return { points, small: at(0.2), balanced: at(0.5), close: at(0.8) };
}

export const library = (more: Partial<LibrarySnapshot> = {}): LibrarySnapshot => ({
  place: { path: "/models", online: true, free_bytes: 100e9, used_bytes: 1e9 },
  models: [],
  draft_models: [],
  jobs: [],
  deleted: [],
  context: { chosen: 16384, choices: [4096, 16384, 131072] },
  kv_precision: "full",
  hub: {
    settings: { address: "", proxy: "", cache: "" },
    endpoint_variable: null,
    proxy_variable: null,
    found_cache: "/Users/anna/.cache/huggingface/hub",
  },
  has_token: false,
  ...more,
});
