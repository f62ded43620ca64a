import type { ErrorReport, Job, JobStage } from "../../src/bridge/bindings";
import { t } from "../../src/language/text";
import { openModels } from "../../src/models/actions";
import { job } from "../../src/models/samples";
import { setView } from "../../src/state/store";
import { FITS, HUGE_MODEL, MACS_PAIRED } from "../data/macs";
import {
  CATALOGUE,
  DEMO_MODEL,
  LARGE_MODEL,
  LIBRARY,
  PROVEN_MODEL,
  RAW_MODEL,
  SIZES,
  SMALL_MODEL,
  UNREACHABLE,
} from "../data/models";
import { click, drawn, find, type } from "../page";
import { Refusal } from "../shell";
import type { State } from "../state";

const open = async () => {
  openModels();
  await find('[data-testid="remote-models"]');
  await drawn();
};

const coming = (id: number, name: string, stage: JobStage, more: Partial<Job> = {}): Job =>
  job(id, stage, { name, repo: `Qwen/${name.replaceAll(" ", "-")}`, done: 12.4e9, total: 20e9, ...more });

/** Work on a model that is here. */
const here = (id: number, stage: JobStage, more: Partial<Job>): Job =>
  job(id, stage, { name: RAW_MODEL.name, repo: null, model: RAW_MODEL.path, ...more });

/** A model in full precision, and what came of it. */
const RAW = { models: [PROVEN_MODEL, DEMO_MODEL, RAW_MODEL] };

/** Chooses from the menu of the last model what is called by a text. */
const choose = async (id: "models-convert" | "models-details-open") => {
  await open();
  await click("model-more");
  [...document.querySelectorAll<HTMLElement>(".menu-item")]
    .find((one) => one.textContent.includes(t(id)))
    ?.click();
};

const RUNNING = coming(
  1,
  "Qwen3.6 35B-A3B",
  { stage: "downloading" },
  { bytes_per_second: 31e6, seconds_left: 245, followed_by: ["measurement"] },
);

const DAMAGED: ErrorReport = {
  code: "hash_mismatch",
  message: "One of 6 files is damaged.",
  hint: "Its hash is not the Hub's. Only that file, 3.9 GB, is fetched again.",
};

const BROKEN: ErrorReport = {
  code: "tensor_missing",
  message: "The checkpoint has no model.layers.3.mlp.down_proj.weight.",
  hint: "A file may be missing. Download the model again.",
};

export const MODELS: State[] = [
  { name: "models", library: { jobs: [RUNNING] }, act: open },
  { name: "models-first", library: { models: [DEMO_MODEL], draft_models: [] }, act: open },
  {
    name: "models-queue",
    library: {
      jobs: [
        { ...RUNNING, files: [{ name: "model-00001-of-00006.safetensors", done: 3.1e9, total: 3.9e9 }] },
        coming(2, "Qwen3.5 4B", { stage: "paused" }, { done: 0.8e9, total: 2.6e9 }),
        coming(3, "Qwen3.6 9B", { stage: "waiting", error: UNREACHABLE, seconds: 24 }),
        coming(4, "Qwen3.5 2B", { stage: "failed", error: DAMAGED }),
        coming(5, "Qwen3-Next 80B-A3B", {
          stage: "held",
          by: { hold: "memory", need_bytes: 46.9e9, available_bytes: 41e9 },
        }),
        coming(6, "Qwen3.6 27B", { stage: "verifying" }, { done: 9e9, total: 15.1e9 }),
        coming(7, "Qwen3.5 0.8B", { stage: "queued" }, { done: 0, total: 0.5e9 }),
      ],
    },
    act: async () => {
      await open();
      (await find('[data-testid="jobs"]')).scrollIntoView();
    },
  },
  {
    name: "models-trouble",
    library: {
      models: [
        LARGE_MODEL,
        { ...SMALL_MODEL, state: { state: "offline" }, origin: "folder" },
        {
          ...DEMO_MODEL,
          path: "/broken",
          name: "Qwen3.6 9B",
          origin: "library",
          state: { state: "broken", error: BROKEN },
        },
      ],
    },
    act: open,
  },
  {
    name: "models-away",
    library: {
      place: { path: "/Volumes/Models", online: false, free_bytes: 0, used_bytes: 0 },
      models: [{ ...LARGE_MODEL, state: { state: "offline" } }, DEMO_MODEL],
    },
    act: open,
  },
  { name: "models-full", library: { place: { ...LIBRARY.place, free_bytes: 1.2e9 } }, act: open },
  {
    name: "models-offline",
    answers: {
      catalogue: () => {
        throw new Refusal(UNREACHABLE);
      },
    },
    act: async () => {
      await open();
      (await find('[data-testid="remote-models"]')).scrollIntoView();
    },
  },
  {
    name: "models-search",
    act: async () => {
      await open();
      await type("search", "Qwen3.6");
      (await find("form[role=search], .search-form, [data-testid='search-now']"))
        .closest("form")
        ?.requestSubmit();
      await find('[data-testid="remote-model"]');
    },
  },
  {
    name: "models-details",
    act: async () => {
      await open();
      setView({ details: CATALOGUE[0] ?? null });
    },
  },
  { name: "models-menu", act: () => open().then(() => click("model-more")) },
  { name: "models-convert", act: () => choose("models-convert") },
  {
    name: "models-quality-measure",
    library: RAW,
    answers: {
      measuringOutlook: () => ({ seconds: 1460, peak_bytes: 3.4e9, tokens: 48_210, disk_bytes: 4.1e9 }),
    },
    act: async () => {
      await choose("models-convert");
      await click("conversion-quality");
      await find('[data-testid="measure-outlook"]');
    },
  },
  {
    name: "models-quality",
    library: RAW,
    answers: { qualityOffer: () => ({ text: null, offer: SIZES }) },
    act: async () => {
      await choose("models-convert");
      await click("conversion-quality");
      await find('[data-testid="quality-slider"]');
    },
  },
  {
    name: "models-quality-jobs",
    library: {
      models: [RAW_MODEL, DEMO_MODEL],
      jobs: [
        here(1, { stage: "probing" }, { kind: "probe", done: 41, total: 128 }),
        here(2, { stage: "comparing" }, { kind: "conversion", done: 9, total: 66 }),
        here(
          3,
          { stage: "done", path: RAW_MODEL.path },
          { kind: "probe", note: "Choose a size under Convert… in the menu of the model." },
        ),
      ],
    },
    act: open,
  },
  {
    name: "models-evidence",
    library: { models: [RAW_MODEL, DEMO_MODEL, PROVEN_MODEL] },
    act: async () => {
      await choose("models-details-open");
      await click("evidence-toggle");
    },
  },
  {
    name: "models-over-macs",
    snapshot: { macs: { ...MACS_PAIRED, spread: [] } },
    library: { models: [DEMO_MODEL, HUGE_MODEL] },
    answers: { spreadOutlook: () => FITS },
    act: async () => {
      await choose("models-details-open");
      (await find('[data-testid="load-over-macs"]')).scrollIntoView({ block: "end" });
    },
  },
  {
    name: "models-over-macs-lacking",
    snapshot: { macs: { ...MACS_PAIRED, spread: [] } },
    library: { models: [DEMO_MODEL, HUGE_MODEL] },
    answers: { spreadOutlook: () => ({ outlook: "lacking", macs: ["Studio"] }) },
    act: async () => {
      await choose("models-details-open");
      (await find('[data-testid="ask-again"]')).scrollIntoView({ block: "end" });
    },
  },
  {
    name: "models-storage",
    act: async () => {
      await open();
      (await find('[data-testid="storage"]')).scrollIntoView();
    },
  },
];
