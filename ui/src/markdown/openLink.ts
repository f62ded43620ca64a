import { shell } from "../bridge/bridge";
import { showError } from "../frame/errors";

/** Opens an address that was shown in the program that the person uses for it. */
export const openLink = (address: string): Promise<void> => shell.openLink(address).then(() => {}, showError);
