import {
  DEFAULT_GENERATION,
  type ErrorReport,
  type ExpectedSpeed,
  type LibrarySnapshot,
  type LocalModel,
  type ModelEntry,
  type ModelInfo,
  type QualityOffer,
  type RemoteModel,
  type Sampling,
} from "../../src/bridge/bindings";
import { draftModel, evidenceOf, fitOf, library, local, remote, sizesOf } from "../../src/models/samples";
import { ago, DAY } from "../clock";

/** What the makers recommend. */
export const RECOMMENDED: Sampling = {
  ...DEFAULT_GENERATION.sampling,
  temperature: 0.6,
  top_p: 0.95,
  top_k: 20,
};

const FOLDER = "/Users/anna/Library/Application Support/Foretoken/models";
export const LARGE = `${FOLDER}/Qwen3.6-27B-4bit`;
export const SMALL = `${FOLDER}/Qwen3.5-9B-8bit`;
export const DEMO = "/Applications/Foretoken.app/Contents/Resources/demo-model";

const entry = (path: string, name: string, built_in = false): ModelEntry => ({ path, name, built_in });

export const ENTRIES: ModelEntry[] = [
  entry(LARGE, "Qwen3.6 27B"),
  entry(SMALL, "Qwen3.5 9B"),
  entry(DEMO, "Demo model", true),
];

/** The model that answers in most of the pictures. */
export const LOADED: ModelInfo = {
  name: "Qwen3.6 27B",
  path: LARGE,
  architecture: "qwen3_5",
  parameters: 27.4e9,
  format: "4-bit",
  mtp: { state: "present", tensors: 15, format: "bfloat16", declared: true },
  context_length: 32_768,
  defaults: RECOMMENDED,
  thinking: true,
  thinking_effort: false,
  opens_thinking: false,
  tools: true,
  json_calls: false,
  pictures: { state: "available", least_pixels: 65_536, most_pixels: 16_777_216, tower_bytes: 0.9e9 },
  fingerprint: "c0ffee00",
  weight_bytes: 15.1e9,
  kv_precision: "full",
  draft_model: { name: "DFlash for Qwen3.6 27B", path: "/dflash", weight_bytes: 1.1e9, most_guesses: 15 },
  draft_model_refused: null,
  macs: [],
  notes: [],
};

export const DEMO_LOADED: ModelInfo = {
  ...LOADED,
  name: "Demo model",
  path: DEMO,
  parameters: 4.6e6,
  format: "bfloat16",
  context_length: 4096,
  weight_bytes: 9.2e6,
  thinking: false,
  draft_model: null,
};

const measured = (speeds: number[]): LocalModel["tuning"] => ({
  tokens_per_second: speeds,
  best_depth: speeds.indexOf(Math.max(...speeds)),
  kv_precision: "full",
  draft_vocabulary: null,
  strained: false,
  measured_at: ago(3 * DAY),
});

export const LARGE_MODEL = local(LARGE, {
  name: "Qwen3.6 27B",
  repo: "Qwen/Qwen3.6-27B",
  disk_bytes: 15.1e9,
  last_used: ago(DAY),
  parameters: 27.4e9,
  sight: "sees",
  fit: fitOf("fits_well", 17.8e9, 56e9),
  tuning: measured([31, 46, 56, 55]),
  draft_model: "/dflash",
});

export const SMALL_MODEL = local(SMALL, {
  name: "Qwen3.5 9B",
  repo: "community/Qwen3.5-9B-8bit",
  disk_bytes: 9.6e9,
  last_used: ago(9 * DAY),
  parameters: 9.1e9,
  format: "8-bit",
  mtp: { state: "stripped" },
  fit: fitOf("fits_well", 11.2e9, 56e9),
  tuning: measured([44]),
});

export const DEMO_MODEL = local(DEMO, {
  name: "Demo model",
  origin: "built_in",
  disk_bytes: 9.2e6,
  parameters: 4.6e6,
  format: "bfloat16",
  fit: fitOf("fits_well", 0.2e9, 56e9),
});

/** A model in full precision, to be converted. */
export const RAW_MODEL = local(`${FOLDER}/Qwen3.5-4B`, {
  name: "Qwen3.5 4B",
  repo: "Qwen/Qwen3.5-4B",
  disk_bytes: 8.7e9,
  parameters: 4.34e9,
  format: "bfloat16",
  fit: fitOf("fits_well", 10.4e9, 56e9),
});

/** What it can be converted to. */
export const SIZES: QualityOffer = sizesOf(
  4.34e9,
  [2.6, 3.1, 3.4, 3.7, 4.0, 4.3, 4.8, 5.3, 5.7, 6.2, 6.9, 7.6, 8.4],
);

/** What it was converted to, and how close that is. */
export const PROVEN_MODEL = local(`${FOLDER}/Qwen3.5-4B-4.8bpw`, {
  name: "Qwen3.5 4B, 4.8 bpw",
  repo: "Qwen/Qwen3.5-4B",
  disk_bytes: 2.6e9,
  parameters: 4.34e9,
  format: "4-bit, mixed",
  fit: fitOf("fits_well", 4.2e9, 56e9),
  original: RAW_MODEL.path,
  evidence: evidenceOf(0.0187, { bytes: SIZES.points[6]?.bytes ?? null, bits_per_weight: 4.8 }),
});

/** A model that LM Studio has. */
export const elsewhere = (path: string): LocalModel =>
  local(path, { name: path.split("/").at(-1), origin: "lm_studio" });

export const DRAFT_MODEL = draftModel("/dflash", LARGE, {
  name: "DFlash for Qwen3.6 27B",
  disk_bytes: 1.1e9,
  made_for: "Qwen3.6 27B",
});

/** The library of somebody who has worked with the app for a while. */
export const LIBRARY: LibrarySnapshot = library({
  place: { path: FOLDER, online: true, free_bytes: 412e9, used_bytes: 25.8e9 },
  models: [LARGE_MODEL, SMALL_MODEL, DEMO_MODEL],
  draft_models: [DRAFT_MODEL],
});

const speed = (plain: [number, number], guessing: [number, number]): ExpectedSpeed => ({
  plain: { low: plain[0], high: plain[1] },
  guessing: { low: guessing[0], high: guessing[1] },
});

/** What is recommended. */
export const CATALOGUE: RemoteModel[] = [
  remote("Qwen/Qwen3.5-4B", {
    name: "Qwen3.5 4B",
    sight: "sees",
    summary: "Quick answers, summaries, small tasks",
    parameters: 4.2e9,
    format: "4-bit",
    kind: "converted",
    download_bytes: 2.6e9,
    fit: fitOf("fits_well", 4e9, 56e9),
    expected: speed([74, 82], [118, 136]),
    recommended: true,
  }),
  remote("Qwen/Qwen3-Next-80B-A3B", {
    name: "Qwen3-Next 80B-A3B",
    summary: "The most able that fits",
    parameters: 80e9,
    active_parameters: 3e9,
    format: "4-bit",
    kind: "converted",
    download_bytes: 44.9e9,
    fit: fitOf("fits_well", 47.1e9, 56e9),
    expected: speed([48, 56], [74, 92]),
  }),
  remote("Qwen/Qwen3.5-122B-A10B", {
    name: "Qwen3.5 122B-A10B",
    sight: "no_memory",
    summary: "For Macs with more memory",
    parameters: 122e9,
    active_parameters: 10e9,
    format: "4-bit",
    kind: "converted",
    download_bytes: 69e9,
    fit: fitOf("too_big", 71e9, 56e9),
  }),
];

/** What is recommended to whoever has none yet. */
export const SUITED = remote("community/Qwen3.6-27B-4bit", {
  name: "Qwen3.6 27B",
  kind: "converted",
  parameters: 27.4e9,
  format: "4-bit",
  download_bytes: 15.1e9,
  fit: fitOf("fits_well", 17.8e9, 56e9),
  expected: speed([31, 31], [48, 60]),
  recommended: true,
});

export const UNREACHABLE: ErrorReport = {
  code: "hub_unreachable",
  message: "The Hub cannot be reached.",
  hint: "Models that are here work without it. Check the network, and try again.",
};
