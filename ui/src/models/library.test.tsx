import type { ReactElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { afterEach, describe, expect, it } from "vitest";
import type {
  DraftModelInfo,
  ErrorReport,
  Hold,
  HubAccess,
  Job,
  JobStage,
  RemoteModel,
} from "../bridge/bindings";
import { SidebarProgress } from "../frame/SidebarProgress";
import { useStore } from "../state/store";
import { list } from "./actions";
import { DraftModels } from "./DraftModels";
import { deletedWith, offerState } from "./draftModels";
import { hubPartWords } from "./HubAddress";
import { HubError } from "./HubError";
import { JobRow } from "./JobRow";
import { endings, losesWork, moved, share, steps, whereabouts } from "./jobs";
import { Storage } from "./LibraryPlace";
import { LocalModels } from "./LocalModels";
import { LocalRow } from "./LocalRow";
import { byPlace, choices, firstChoice, isRaw, sortedByFit } from "./models";
import { RemoteModels } from "./RemoteModels";
import { SmallerMemory } from "./SmallerMemory";
import { draftModel, fitOf, job, library, local, modelInfo, remote } from "./samples";
import type { Listing } from "./view";

const initial = useStore.getInitialState();
/** Components that are drawn without a document see the first state of the store. */
const first = { ...initial };
afterEach(() => void Object.assign(initial, first));

/** What a person reads of `element`. */
function words(element: ReactElement, state: Partial<typeof initial> = {}): string {
  Object.assign(initial, state);
  return renderToStaticMarkup(element)
    .replace(/<[^>]+>/g, " ")
    .replace(/\s+/g, " ");
}

const error = { code: "disk_full", message: "The disk is full.", hint: "Free some space." };
const downloading: JobStage = { stage: "downloading" };

describe("the queue", () => {
  const jobs = [job(1, downloading), job(2, { stage: "queued" }), job(3, { stage: "done", path: "/m" })];

  it("says what there is to know about how a job ended", () => {
    const note = "The original is in use and was kept.";
    const done = job(1, { stage: "done", path: "/m" }, { note });
    expect(words(<JobRow job={done} jobs={[done]} />)).toContain(note);
  });

  it("moves a job up and down among those that have not ended", () => {
    expect(moved(jobs, 1, 1)).toBe(1);
    expect(moved(jobs, 2, -1)).toBe(0);
    expect(moved(jobs, 1, -1)).toBeNull();
    expect(moved(jobs, 2, 1)).toBeNull();
    expect(moved(jobs, 9, 1)).toBeNull();
  });

  it("offers what the stage allows", () => {
    const of = (stage: JobStage) => steps(job(1, stage));
    expect(of(downloading)).toEqual(["pause"]);
    expect(of({ stage: "waiting", error, seconds: 9 })).toEqual(["hurry", "pause"]);
    expect(of({ stage: "paused" })).toEqual(["resume"]);
    expect(of({ stage: "failed", error })).toEqual(["retry"]);
    expect(of({ stage: "done", path: "/m" })).toEqual(["use"]);
    expect(of({ stage: "tuning" })).toEqual([]);
    expect(of({ stage: "held", by: { hold: "chat" } })).toEqual(["pause"]);
    expect(of({ stage: "moving" })).toEqual([]);
  });

  it("knows how far a job is only where it knows the whole", () => {
    expect(share(job(1, downloading, { done: 1, total: 4 }))).toBe(0.25);
    expect(share(job(1, downloading, { done: 9, total: 4 }))).toBe(1);
    expect(share(job(1, downloading))).toBeNull();
  });

  it("says once what has ended", () => {
    const done = [job(1, { stage: "done", path: "/m" }), job(2, { stage: "failed", error })];
    expect(endings(jobs, done)).toBe("Model 1 is ready. Model 2 has stopped. The disk is full.");
    expect(endings(done, done)).toBe("");
    expect(endings([], done)).toBe("");
    expect(endings(jobs, [job(1, { stage: "verifying" })])).toBe("");
    const move = (stage: JobStage) => [job(1, stage, { kind: "move" })];
    expect(endings(move({ stage: "moving" }), move({ stage: "done", path: "/m" }))).toBe(
      "The model library has moved.",
    );
  });

  it("shows each job with its numbers, and why one has stopped", () => {
    const one = job(1, downloading, {
      done: 1e9,
      total: 4e9,
      bytes_per_second: 84e6,
      seconds_left: 400,
      files: [
        { name: "a", done: 5, total: 5 },
        { name: "b", done: 1, total: 5 },
      ],
      followed_by: ["measurement"],
    });
    const shown = words(<JobRow job={one} jobs={[one]} />);
    for (const part of [
      "Model 1",
      "Downloading",
      "1.0 of 4.0 GB",
      "84 MB/s",
      "7 minutes left",
      "then checked and measured",
      "1 of 2 files",
      "Pause",
    ])
      expect(shown).toContain(part);
    const failed = job(2, { stage: "failed", error });
    expect(words(<JobRow job={failed} jobs={[failed]} />)).toMatch(
      /The disk is full\. Free some space\. Try again/,
    );
    const waiting = job(3, { stage: "waiting", error, seconds: 12 });
    expect(words(<JobRow job={waiting} jobs={[waiting]} />)).toContain(
      "What arrived is kept. The next try is in 12 s. Try now",
    );
  });

  it("says what holds a measurement up, and lets it be left out", () => {
    const held = (by: Hold) => {
      const one = job(1, { stage: "held", by }, { kind: "measurement" });
      return words(<JobRow job={one} jobs={[one]} />);
    };
    expect(held({ hold: "chat" })).toMatch(/Waiting for the chat.*Pause.*Skip.*no reply is being written/);
    expect(held({ hold: "memory", need_bytes: 16.8e9, available_bytes: 12e9 })).toMatch(
      /Waiting for memory.*needs 16\.8 GB.*12\.0 GB\. Choose a smaller model/,
    );
  });

  it("asks before work is given up, and only then", () => {
    const asks = (kind: Job["kind"], stage: JobStage, done: number) =>
      losesWork(job(1, stage, { kind, done, total: 10 }));
    expect(asks("download", downloading, 5)).toBe(true);
    expect(asks("conversion", { stage: "paused" }, 5)).toBe(true);
    expect(asks("download", downloading, 0)).toBe(false);
    expect(asks("measurement", { stage: "tuning" }, 5)).toBe(false);
    expect(asks("conversion", { stage: "done", path: "/m" }, 5)).toBe(false);
  });

  it("offers to use what came of a job, if that is a model", () => {
    const done = job(1, { stage: "done", path: "/m" });
    const shown = () => words(<JobRow job={done} jobs={[done]} />, { library: library({ models }) });
    let models = [local("/m")];
    expect(shown()).toMatch(/Use.*Dismiss/);
    models = [local("/m", { state: { state: "offline" } })];
    expect(shown()).not.toContain("Use");
    models = [];
    expect(shown()).not.toContain("Use");
  });

  it("goes on in the sidebar with the job that runs, and says what has stopped", () => {
    const at = (...all: ReturnType<typeof job>[]) =>
      words(<SidebarProgress />, { library: library({ jobs: all }) });
    expect(at(job(1, { stage: "paused" }), job(2, downloading, { done: 42, total: 100 }))).toMatch(
      /Model 2 42 %/,
    );
    expect(at(job(1, { stage: "paused" }), job(2, { stage: "failed", error }))).toContain("Model 2 Stopped");
    expect(at(job(1, { stage: "done", path: "/m" })).trim()).toBe("");
  });
});

describe("models on this machine", () => {
  const cached = local("/cached", { origin: "hugging_face_cache" });
  const demo = local("/demo", { origin: "built_in" });
  const own = local("/own");

  it("are grouped by where they are kept", () => {
    expect(
      byPlace([cached, demo, own]).map(([place, group]) => [place, group.map(({ path }) => path)]),
    ).toEqual([
      ["In the library", ["/demo", "/own"]],
      ["Hugging Face cache", ["/cached"]],
    ]);
  });

  it("are all in the picker, also those that the library does not list", () => {
    const entry = { path: "/old", name: "old", built_in: false };
    const known = { path: "/own", name: "own", built_in: false };
    const groups = choices([entry, known], library({ models: [own] }));
    expect(groups.map(([place, group]) => [place, group.map(({ path }) => path)])).toEqual([
      ["In the library", ["/own"]],
      ["Other models", ["/old"]],
    ]);
    expect(choices([known], null)).toHaveLength(1);
  });

  it("are raw unless they are quantized", () => {
    expect(isRaw(local("/m", { format: "bfloat16" }))).toBe(true);
    expect(isRaw(local("/m", { format: "4-bit" }))).toBe(false);
    expect(isRaw(local("/m", { format: null }))).toBe(false);
  });

  it("say what they are, and offer a use only where there is one", () => {
    const row = (more: Parameters<typeof local>[1], inUse = false) =>
      words(<LocalRow model={local("/m", more)} inUse={inUse} speed={null} end={0} />);
    expect(row({})).toMatch(/4-bit · 1\.0 GB · guesses up to 3 ahead \(MTP head\) .*Use/);
    expect(row({})).not.toMatch(/in use|lost its head|Needs/);
    expect(row({ mtp: { state: "stripped" } })).toMatch(
      /no MTP head .*This conversion lost its head\. Get one with it/,
    );
    expect(row({ mtp: { state: "absent" } })).not.toContain("lost its head");
    expect(row({ fit: fitOf("tight") })).toContain("(MTP head) · tight");
    expect(row({ fit: fitOf("too_big", 19e9) })).toMatch(
      /Needs 19\.0 GB: 7\.0 GB more than this (Mac|computer) gives.*Use anyway/,
    );
    expect(row({}, true)).toMatch(/in use/);
    expect(row({}, true)).not.toMatch(/\bUse\b/);
    expect(row({ repo: "org/m", update_available: true })).toContain("A newer version is on the Hub");
    const offline = row({ state: { state: "offline" } });
    expect(offline).toContain("Offline");
    expect(offline).not.toMatch(/\bUse\b/);
    const damaged = job(3, { stage: "failed", error: { ...error, code: "download_corrupt" } });
    expect(words(<JobRow job={damaged} jobs={[damaged]} />)).toContain("Fetch it again");
    expect(row({ state: { state: "broken", error } })).toContain("The disk is full.");
  });

  it("are designed where there are none, the disk is away, or it is full", () => {
    const at = (more: Parameters<typeof library>[0]) =>
      words(<LocalModels heading="Here" />, { library: library(more) });
    expect(at({})).toMatch(/No model is here yet.*Add a folder…/);
    expect(at({ models: [demo] })).toContain("Only the demo model is here");
    expect(at({ models: [demo, own] })).not.toContain("Only the demo");
    const place = library().place;
    expect(at({ place: { ...place, online: false, free_bytes: 0 } })).toContain(
      "The library’s disk is not connected",
    );
    const models = [demo, local("/m", { state: { state: "offline" } })];
    expect(at({ place: { ...place, path: "/Volumes/Models/foretoken", online: false }, models })).toMatch(
      /“Models” is not connected 1 model is on it\. It comes back with the disk\..*Use another folder/,
    );
    expect(at({ place: { ...place, free_bytes: 1e9 } })).toContain("almost full: 1.0 GB free");
    expect(at({ deleted: [{ path: "/d", name: "Old", disk_bytes: 2e9 }] })).toContain(
      "Old is deleted. Its 2.0 GB are freed when you quit. Undo",
    );
  });
});

describe("draft models", () => {
  const drafted = local("/m", { draft_model: "/m-DFlash" });
  const draft = draftModel("/m-DFlash", "/m");
  const screen = (more: Parameters<typeof library>[0]) =>
    words(<LocalModels heading="Here" />, { library: library(more) });

  it("stand under their model with what they are, and are none to chat with", () => {
    const all = { models: [drafted], draft_models: [draft] };
    const shown = screen(all);
    expect(shown).toMatch(
      /m .*Draft model: m-DFlash 1\.1 GB · bfloat16 · guesses up to 15 ahead · made for m/,
    );
    expect(shown).toContain("1 model and a draft model · 2.1 GB · 100 GB free");
    expect(shown).not.toContain("without their model");
    const entry = { path: "/m-DFlash", name: "m-DFlash", built_in: false };
    expect(choices([entry], library(all)).map(([, group]) => group.map(({ path }) => path))).toEqual([
      ["/m"],
    ]);
  });

  it("stand by themselves where their model is not here", () => {
    const lonely = draftModel("/d", "/gone", { targets: [], made_for: "Qwen3.5-9B" });
    expect(screen({ models: [local("/m")], draft_models: [lonely] })).toMatch(
      /Draft models without their model d 1\.1 GB .* made for Qwen3\.5-9B/,
    );
  });

  it("are offered with their size, say how far they are, and why they cannot be got", () => {
    const offer = { repo: "z/m-DFlash", name: "m-DFlash", download_bytes: 1.07e9 };
    const models = [local("/m", { draft_model_offer: offer })];
    expect(screen({ models })).toMatch(
      /Draft model: none yet m-DFlash is a small model.*Get · about 1\.1 GB/,
    );
    expect(offerState({ ...offer, download_bytes: null }, null)).toEqual({ words: null, reason: null });
    const verifying = job(1, { stage: "verifying" }, { repo: offer.repo });
    expect(offerState(offer, library({ jobs: [verifying] })).words).toBe("Checking the files");
    const { place } = library();
    const full = library({ place: { ...place, free_bytes: 1e9 } });
    expect(offerState(offer, full).reason).toContain("takes 1.1 GB, and 1.0 GB is free");
    const away = library({ place: { ...place, online: false } });
    expect(offerState(offer, away).reason).toContain("not connected");
  });

  it("are deleted with their model where no other model needs them and they are ours", () => {
    expect(deletedWith([draft], drafted)).toBe(draft);
    expect(deletedWith([{ ...draft, targets: ["/m", "/m-8bit"] }], drafted)).toBeNull();
    expect(deletedWith([{ ...draft, origin: "hugging_face_cache" }], drafted)).toBeNull();
    expect(deletedWith([draft], local("/m"))).toBeNull();
  });

  it("say why the loaded model goes without them", () => {
    const at = (draft_model_refused: ErrorReport | null, draft_model: DraftModelInfo | null) => {
      const engine = {
        state: "ready",
        device: "gpu",
        in_memory: true,
        model: modelInfo("/m", { draft_model_refused, draft_model }),
      } as const;
      return words(<DraftModels model={drafted} inUse />, {
        library: library({ draft_models: [draft] }),
        engine,
      });
    };
    const loaded = { name: "d", path: "/m-DFlash", weight_bytes: 1, most_guesses: 15 };
    expect(at(null, null)).toContain("used as soon as no reply is being written");
    const refused = { code: "draft_mismatch", message: "It is too wide.", hint: "Choose another one." };
    expect(at(refused, null)).toContain("cannot be used, so it goes without: It is too wide.");
    expect(at(null, loaded)).not.toMatch(/used as soon|goes without/);
  });
});

describe("models to get", () => {
  it("come with the one to take first, and those that do not run last", () => {
    const models = [
      remote("big", { fit: fitOf("too_big") }),
      remote("unknown", { fit: null }),
      remote("tight", { fit: fitOf("tight") }),
      remote("well"),
      remote("pick", { recommended: true, fit: fitOf("tight") }),
    ];
    expect(sortedByFit(models).map(({ repo }) => repo)).toEqual(["pick", "well", "tight", "unknown", "big"]);
  });

  it("are known to be here, or on their way, from the library alone", () => {
    const own = local("/own", { repo: "org/m" });
    const model = remote("org/m", { installed: "/gone" });
    expect(whereabouts(model, library({ models: [own] })).local).toBe(own);
    expect(whereabouts(model, library()).local).toBeNull();
    const way = job(1, downloading, { repo: "org/m" });
    expect(whereabouts(model, library({ jobs: [way] })).job).toBe(way);
    expect(
      whereabouts(model, library({ jobs: [{ ...way, stage: { stage: "done", path: "/m" } }] })).job,
    ).toBeNull();
    expect(whereabouts(model, null)).toEqual({ local: null, job: null });
  });

  it("begin with the recommended conversion, or with that of the version before", () => {
    expect(firstChoice(null)).toEqual({ weights: { kind: "bits", bits: 4 }, keep_raw: false });
    expect(firstChoice(local("/m", { format: "8-bit" })).weights).toEqual({ kind: "bits", bits: 8 });
    expect(firstChoice(local("/m", { format: "bfloat16" })).weights).toEqual({ kind: "published" });
  });

  it("say what was found, also when it is nothing or the Hub is away", () => {
    const at = (found: Listing | null, catalogue: Listing | null = null) =>
      words(<RemoteModels />, { found, catalogue, library: library() });
    const models = [remote("org/m", { recommended: true })];
    expect(at(null, { models, asking: false, error: null })).toMatch(
      /Recommended for .*The most able that fits well, with 5\.0 GB to spare · 8\.0 GB, 2\.3 GB as 4-bit .*Get/,
    );
    expect(at({ models, asking: false, error: null })).toMatch(/On Hugging Face.*With MTP head/);
    expect(at(null)).toContain("The list is being fetched");
    expect(at({ models: null, asking: true, error: null })).toContain("Searching…");
    expect(at({ models, asking: false, error: null })).toContain("One model was found.");
    expect(at({ models: [], asking: false, error: null })).toMatch(/Nothing was found.*Try fewer words/);
    expect(at({ models: null, asking: false, error })).toMatch(/The search failed.*Try again/);
  });

  it("are those of the question asked last, whichever is answered first", async () => {
    const answers: ((models: RemoteModel[]) => void)[] = [];
    const ask = () => list("found", () => new Promise((resolve) => answers.push(resolve)));
    const both = [ask(), ask()];
    answers[1]?.([remote("second")]);
    answers[0]?.([remote("first")]);
    await Promise.all(both);
    expect(useStore.getState().found?.models?.map(({ repo }) => repo)).toEqual(["second"]);
    await list("found", () => Promise.reject(new Error("no network")));
    expect(useStore.getState().found).toMatchObject({ asking: false, models: [{ repo: "second" }] });
    expect(useStore.getState().found?.error?.message).toContain("no network");
  });

  it("say how to get in where that needs a token, and nothing of it elsewhere", () => {
    const gated = { ...error, code: "gated_no_token" };
    expect(words(<HubError error={gated} testId="e" repo="org/m" />)).toMatch(
      /https:\/\/huggingface\.co\/org\/m.*Make a token.*Copy address.*Set a token…/,
    );
    expect(words(<HubError error={error} testId="e" />)).not.toContain("token");
  });

  it("have no main button beside those that are in a list or a sheet", () => {
    const gated = { ...error, code: "gated_no_token" };
    const failed = [error, gated].map((one, at) => job(at, { stage: "failed", error: one }));
    const listing = { models: null, asking: false, error };
    Object.assign(initial, {
      library: library({ jobs: failed }),
      catalogue: listing,
      libraryError: { about: "library", report: error },
    });
    const drawn = renderToStaticMarkup(
      <>
        {failed.map((one) => (
          <JobRow key={one.id} job={one} jobs={failed} />
        ))}
        <LocalModels heading="Here" />
        <RemoteModels />
      </>,
    );
    expect(drawn.match(/Try again<\/button>/g)).toHaveLength(4);
    expect(drawn).toContain("Copy address");
    expect(drawn).not.toContain("primary");
  });
});

describe("smaller memory", () => {
  it("says what it costs, and whether it is on", () => {
    const at = (kv_precision: "full" | "eight") => {
      Object.assign(initial, { library: library({ kv_precision }) });
      return renderToStaticMarkup(<SmallerMemory />);
    };
    expect(at("full")).toMatch(/Smaller memory for long chats.*Replies may differ.*loaded again/s);
    expect(at("full")).not.toContain("checked");
    expect(at("eight")).toContain('checked=""');
  });
});

describe("how the Hub is reached", () => {
  const access = (more: Partial<HubAccess> = {}): HubAccess => ({ ...library().hub, ...more });
  const all = (hub: HubAccess) => [
    hubPartWords(hub, "address"),
    hubPartWords(hub, "proxy"),
    hubPartWords(hub, "cache"),
  ];

  it("is told as the person chose it, or else as the environment has it", () => {
    const variables = { endpoint_variable: "https://inside.example.org", proxy_variable: "HTTPS_PROXY" };
    const found = "/Users/anna/.cache/huggingface/hub";
    expect(all(access())).toEqual(["huggingface.co", "As your system has it", found]);
    expect(all(access({ ...variables, found_cache: null }))).toEqual([
      "https://inside.example.org, from HF_ENDPOINT",
      "The one in the variable HTTPS_PROXY",
      "None",
    ]);
    const settings = {
      address: "https://mirror.example.org",
      proxy: "http://127.0.0.1:8080",
      cache: "/disk",
    };
    expect(all(access({ ...variables, settings }))).toEqual(Object.values(settings));
  });
});

describe("storage and access", () => {
  it("says where the library is and whether a token is kept, and nothing of the token", () => {
    const at = (has_token: boolean) => words(<Storage />, { library: library({ has_token }) });
    expect(at(false)).toMatch(/\/models 1\.0 GB of models, 100 GB free.*Not set.*Set a token…/);
    expect(at(true)).toMatch(/Set\. It is in the system&#x27;s keychain\. Remove Replace the token…/);
  });
});
