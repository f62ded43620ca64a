import { describe, expect, it } from "vitest";
import type { LibrarySnapshot, RemoteModel } from "../bridge/bindings";
import { elsewhereLabel, forMachine, modelsElsewhere, modelToGet, offerOf } from "./offer";
import { fitOf, job, library, local, remote } from "./samples";

const small = remote("org/small", { parameters: 4e9 });
const large = remote("org/large", { parameters: 27e9 });
const tight = remote("org/tight", { parameters: 80e9, fit: fitOf("tight") });
const tooBig = remote("org/too-big", { parameters: 122e9, fit: fitOf("too_big"), recommended: true });
const unknown = remote("org/unknown", { parameters: 400e9, fit: null });
const demo = local("/demo", { origin: "built_in" });

describe("the model to get", () => {
  const got = (models: RemoteModel[], here: Partial<LibrarySnapshot> = {}) =>
    modelToGet(models, library(here))?.repo ?? null;

  it("is the recommended one, or else the largest of those that run best", () => {
    expect(got([small, large, tight, { ...small, repo: "org/best", recommended: true }])).toBe("org/best");
    expect(got([small, large, tight])).toBe("org/large");
    expect(got([tight, { ...tight, repo: "org/tighter", parameters: 70e9 }])).toBe("org/tight");
    expect(got([{ ...large, parameters: null }, small])).toBe("org/small");
  });

  it("is none that does not run, that nothing is known of, or that is here", () => {
    expect(got([tooBig, unknown])).toBeNull();
    expect(got([])).toBeNull();
    expect(got([small, large], { models: [local("/m", { repo: "org/large" })] })).toBe("org/small");
    expect(got([{ ...large, installed: "/m" }, small], { models: [local("/m")] })).toBe("org/small");
  });
});

describe("what is offered to those who begin", () => {
  it("waits for what it follows from", () => {
    expect(offerOf(null, library({ models: [demo] })).kind).toBe("waiting");
    expect(offerOf([small], null).kind).toBe("waiting");
    expect(offerOf([small], library({ models: [demo] }))).toEqual({ kind: "get", model: small });
  });

  it("is nothing of its own where nothing tells what runs here", () => {
    expect(offerOf("none", library()).kind).toBe("none");
    expect(offerOf([small], "none").kind).toBe("none");
    expect(offerOf([tooBig], library()).kind).toBe("none");
  });

  it("is what comes, first what goes on by itself, but for draft models and what has ended", () => {
    const paused = job(1, { stage: "paused" });
    const running = job(2, { stage: "downloading" });
    const coming = (jobs: LibrarySnapshot["jobs"], models = [demo]) =>
      offerOf([small], library({ jobs, models }));
    expect(coming([paused, running])).toEqual({ kind: "coming", job: running });
    expect(coming([paused])).toEqual({ kind: "coming", job: paused });
    const queued = job(5, { stage: "queued" });
    expect(coming([paused, queued])).toEqual({ kind: "coming", job: queued });
    expect(coming([queued, running])).toEqual({ kind: "coming", job: running });
    expect(coming([job(3, { stage: "done", path: "/m" })]).kind).toBe("get");
    expect(coming([job(4, { stage: "tuning" }, { kind: "measurement", repo: null })]).kind).toBe("get");
    const offer = { repo: "org/model-2", name: "Drafts", download_bytes: null };
    expect(coming([running], [local("/demo", { origin: "built_in", draft_model_offer: offer })]).kind).toBe(
      "get",
    );
  });

  it("is a model that is here rather than one that has stopped on its way, but not than one that comes", () => {
    const error = { code: "disk_full", message: "The disk is full.", hint: "" };
    const own = local("/own");
    const offered = (...jobs: LibrarySnapshot["jobs"]) =>
      offerOf([small], library({ models: [demo, own], jobs }));
    for (const stage of [{ stage: "failed", error }, { stage: "paused" }] as const)
      expect(offered(job(1, stage))).toEqual({ kind: "here", model: own });
    for (const stage of ["downloading", "queued"] as const)
      expect(offered(job(1, { stage })).kind).toBe("coming");
  });

  it("is the model that is here, the one that answered last before larger ones", () => {
    const here = (...models: LibrarySnapshot["models"]) => offerOf([small], library({ models }));
    const [used, larger] = [local("/used", { last_used: 5 }), local("/larger", { parameters: 9e9 })];
    expect(here(demo, larger, used)).toEqual({ kind: "here", model: used });
    expect(here(local("/m"), larger)).toEqual({ kind: "here", model: larger });
    for (const more of [{ fit: fitOf("too_big") }, { state: { state: "offline" } as const }])
      expect(here(demo, local("/m", more)).kind).toBe("get");
  });
});

describe("models of other programs", () => {
  const inStudio = (path: string, more = {}) => local(path, { origin: "lm_studio", ...more });
  const cached = local("/hub", { origin: "hugging_face_cache" });

  it("count where they can be used and no other model is here", () => {
    const found = (...models: LibrarySnapshot["models"]) => modelsElsewhere(library({ models })).length;
    expect(found(demo, inStudio("/a"), cached)).toBe(2);
    expect(
      found(inStudio("/a", { state: { state: "offline" } }), inStudio("/b", { fit: fitOf("too_big") })),
    ).toBe(0);
    expect(found(inStudio("/a"), local("/own"))).toBe(0);
    expect(found(inStudio("/a"), local("/own", { origin: "folder" }))).toBe(0);
  });

  it("are told by their number and place, a single one by its name", () => {
    expect(elsewhereLabel([inStudio("/a"), inStudio("/b")])).toBe("2 models in LM Studio’s folder");
    expect(elsewhereLabel([cached, inStudio("/a"), inStudio("/b")])).toBe(
      "2 models in LM Studio’s folder, 1 in the Hugging Face cache",
    );
    expect(elsewhereLabel([cached, inStudio("/a")])).toBe(
      "1 model in LM Studio’s folder, 1 in the Hugging Face cache",
    );
    expect(elsewhereLabel([cached])).toBe("hub in the Hugging Face cache");
  });
});

describe("the machine", () => {
  const at = (chip: string, gib: number) => forMachine({ chip, ram_bytes: gib * 2 ** 30 });

  it("is named as its maker does, as far as it is known", () => {
    expect(at("Apple M4 Max", 64)).toMatch(/^For this (Mac|computer), an M4 Max with 64 GB:$/);
    expect(at("AMD EPYC 7B13", 16)).toContain(", an AMD EPYC 7B13 with 16 GB:");
    expect(at("Snapdragon X", 8)).toContain(", a Snapdragon X with 8 GB:");
    expect(at("Apple M1", 0)).toMatch(/, an M1:$/);
    expect(at("", 16)).toMatch(/, with 16 GB:$/);
    expect(forMachine(null)).toMatch(/^For this (Mac|computer):$/);
  });
});
