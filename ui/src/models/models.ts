import type {
  ConversionChoice,
  LibrarySnapshot,
  LocalModel,
  ModelEntry,
  ModelOrigin,
  RemoteModel,
} from "../bridge/bindings";
import { t } from "../language/text";

const places = (): { name: string; origins: ModelOrigin[] }[] => [
  { name: t("model-place-library"), origins: ["library", "built_in"] },
  { name: t("model-place-cache"), origins: ["hugging_face_cache"] },
  { name: t("model-place-studio"), origins: ["lm_studio"] },
  { name: t("model-place-folders"), origins: ["folder"] },
];

/** Models by where they are kept, empty groups left out. */
export function byPlace(models: LocalModel[]): [string, LocalModel[]][] {
  return places()
    .map(({ name, origins }): [string, LocalModel[]] => [
      name,
      models.filter(({ origin }) => origins.includes(origin)),
    ])
    .filter(([, group]) => group.length > 0);
}

/** A model to choose, with what the library knows of it. */
export interface Choice {
  path: string;
  name: string;
  builtIn: boolean;
  local: LocalModel | null;
}

/** Every model that can be chosen, by where it is kept, those that the library does not list last. */
export function choices(entries: ModelEntry[], library: LibrarySnapshot | null): [string, Choice[]][] {
  const { models = [], draft_models: drafts = [] } = library ?? {};
  const groups = byPlace(models).map(([place, group]): [string, Choice[]] => [
    place,
    group.map((local) => ({
      path: local.path,
      name: local.name,
      builtIn: local.origin === "built_in",
      local,
    })),
  ]);
  const others = entries
    .filter(({ path }) => [...models, ...drafts].every((known) => known.path !== path))
    .map(({ path, name, built_in: builtIn }) => ({ path, name, builtIn, local: null }));
  return others.length > 0 ? [...groups, [t("model-place-others"), others]] : groups;
}

/** The models that can answer beside the one that is chosen. */
export const otherModels = (
  entries: ModelEntry[],
  library: LibrarySnapshot | null,
  selected: string,
): Choice[] =>
  choices(entries, library)
    .flatMap(([, group]) => group)
    .filter(({ path, local }) => path !== selected && (local === null || local.state.state === "ready"));

const VERDICTS = ["fits_well", "tight", undefined, "too_big"];

/** The one to take first, then what runs best, in the given order where it runs alike. */
export function sortedByFit(models: RemoteModel[]): RemoteModel[] {
  const place = (model: RemoteModel) => (model.recommended ? -1 : VERDICTS.indexOf(model.fit?.verdict));
  return models.toSorted((a, b) => place(a) - place(b));
}

/** Whether the model that came with the app is the one that answers. */
export const demoAnswers = ({ models, selectedModel }: { models: ModelEntry[]; selectedModel: string }) =>
  models.some((entry) => entry.built_in && entry.path === selectedModel);

/** Whether there is something to convert: weights that are not quantized. */
export const isRaw = ({ format }: LocalModel): boolean => format !== null && !/\bbit\b/.test(format);

/** Files that are used as they come. */
export const AS_IS: ConversionChoice = { weights: { kind: "published" }, keep_raw: true };

/** The conversion to begin with: the recommended one, or that of the model that a newer version replaces. */
export function firstChoice(local: LocalModel | null): ConversionChoice {
  const bits = local?.format?.startsWith("8-bit") ? 8 : 4;
  const published = local !== null && isRaw(local);
  return { weights: published ? { kind: "published" } : { kind: "bits", bits }, keep_raw: false };
}
