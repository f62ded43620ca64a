/** Whether the window is a Mac's: its title bar lies over the page, and its shortcuts use Command. */
export const MAC = globalThis.navigator?.userAgent.includes("Macintosh") ?? false;

/** What the machine is called. */
export const HERE = MAC ? "this Mac" : "this computer";

/** What leads to a folder in the system's file manager. */
export const SHOW_FOLDER = MAC ? "Show in Finder" : "Show in folder";
