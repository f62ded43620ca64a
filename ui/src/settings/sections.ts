/** The parts of the settings, in their order. */
export const SECTIONS = [
  { id: "appearance", name: "Appearance" },
  { id: "defaults", name: "Chats without settings of their own" },
  { id: "memory", name: "Model memory" },
  { id: "window", name: "Window and notifications" },
  { id: "data", name: "Data" },
  { id: "help", name: "Help and diagnostics" },
] as const;

export type SectionId = (typeof SECTIONS)[number]["id"];
