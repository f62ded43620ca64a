import type { LocalApiSettings } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { useStore } from "../state/store";
import { attempt } from "./actions";

/** Changes what the local API does. The shell says what came of it. */
export const changeLocalApi = (change: Partial<LocalApiSettings>) =>
  attempt(() => shell.setLocalApi({ ...useStore.getState().local_api.settings, ...change }));

/** Lets it listen at the next port that is free. */
export const takeFreePort = () => attempt(shell.takeFreePort);

/** Makes a new token. */
export const renewApiToken = () => attempt(shell.renewApiToken);

/** Copies a text for another program, with the token where the page shows dots. */
export const copyForProgram = (text: string) => attempt(() => shell.copyForProgram(text));

/** Ends a request. */
export const stopApiRequest = (request: string) => attempt(() => shell.stopApiRequest(request));
