import type { ErrorReport, RemoteFilter, RemoteModel } from "../bridge/bindings";

/** Models that the Hub was asked for. What came last stays while it is asked again. */
export interface Listing {
  models: RemoteModel[] | null;
  asking: boolean;
  error: ErrorReport | null;
}

/** A search that leaves nothing out. */
export const NO_FILTER: RemoteFilter = {
  text: "",
  with_mtp: false,
  fitting: false,
  kind: null,
  bits: null,
  largest_download: null,
};

/** What only the page knows of the models. */
export interface ModelsView {
  modelPicker: boolean;
  /** Why the last model did not open. */
  modelError: ErrorReport | null;
  /** The models to recommend; null until asked for. */
  catalogue: Listing | null;
  /** What the Hub is searched for. */
  filter: RemoteFilter;
  /** What a search of the Hub found; null while the catalogue is shown. */
  found: Listing | null;
  /** The model of the Hub that is looked at. */
  details: RemoteModel | null;
  /** Why the last action on the library failed, and what it was about. */
  libraryError: { about: string; report: ErrorReport } | null;
  /** The folder that the library is to be moved to once that is confirmed. */
  libraryTarget: string | null;
}

/** As the window opens. */
export const MODELS_VIEW: ModelsView = {
  modelPicker: false,
  modelError: null,
  catalogue: null,
  filter: NO_FILTER,
  found: null,
  details: null,
  libraryError: null,
  libraryTarget: null,
};
