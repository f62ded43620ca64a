/** Whether the window is a Mac's: its title bar lies over the page, and its shortcuts use Command. */
export const MAC = /Macintosh/.test(globalThis.navigator?.userAgent ?? "");
