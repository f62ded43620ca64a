import {
  DEFAULT_GENERATION,
  DEFAULT_PREFERENCES,
  type GenerationSettings,
  type Snapshot,
} from "../../src/bridge/bindings";
import type { Answers } from "../shell";
import type { State } from "../state";
import { HISTORY } from "./benchmarks";
import { BORROW_REPLY, CHATS, runs, STARTER_REPLY, STARTER_THOUGHT } from "./chats";
import { LOCAL_API } from "./localApi";
import { MACS } from "./macs";
import { CATALOGUE, ENTRIES, LARGE, LIBRARY, LOADED, RECOMMENDED } from "./models";

export const GENERATION: GenerationSettings = {
  ...DEFAULT_GENERATION,
  stop: [],
  sampling: RECOMMENDED,
};

/** What all pictures share, until one says otherwise. */
const SNAPSHOT: Snapshot = {
  engine: { state: "ready", model: LOADED, device: "metal", in_memory: true },
  models: ENTRIES,
  selected_model: LARGE,
  chats: { chats: CHATS, next: null, total: CHATS.length },
  tags: [
    { name: "kitchen", chats: 2 },
    { name: "rust", chats: 2 },
  ],
  presets: [
    { id: 1, name: "Short and exact", system_prompt: "Answer in one or two sentences.", generation: null },
    {
      id: 2,
      name: "Editor",
      system_prompt: "Improve the text. Change as little as you can.",
      generation: null,
    },
  ],
  deleted_presets: [],
  projects: [],
  deleted_projects: [],
  summaries: [],
  prompts: [
    {
      name: "Translate",
      description: "Into another language",
      text: "Translate the text below into {{language}}. Give the translation alone.\n\n{{text}}",
    },
    {
      name: "Summarise",
      description: "",
      text: "Summarise the text below in {{number}} points, each in one sentence.\n\n{{text}}",
    },
    { name: "Explain code", description: "What it does and what could go wrong", text: "Explain {{code}}" },
  ],
  deletions: [],
  navigation: 0,
  open: null,
  draft: { text: "", files: [], pictures: [] },
  settings: GENERATION,
  reveal_drafts: false,
  preferences: { ...DEFAULT_PREFERENCES, open_projects: [] },
  trouble: null,
  surroundings: { accent: null, full_screen: false },
  local_api: LOCAL_API,
  macs: MACS,
  ring: { macs: [], link_ms: null },
  updates: { state: "idle", checked: null },
  tools: { built_in: [], folders: [], search: "", servers: [], permissions: [], questions: [] },
};

/** What the shell answers about what it knows. */
export function snapshot({ snapshot, library, settings }: State): Answers {
  const known: Snapshot = { ...SNAPSHOT, ...snapshot };
  if (settings) known.preferences = { ...known.preferences, settings_page: settings };
  const openMessages = known.open?.messages ?? [];
  return {
    snapshot: () => known,
    library: () => ({ ...LIBRARY, ...library }),
    catalogue: () => CATALOGUE,
    searchModels: () => CATALOGUE,
    benchmarks: () => HISTORY,
    chatPage: () => known.chats,
    countTokens: (texts) => texts.map((text) => Math.ceil(text.length / 3.6)),
    provenance: (id) => {
      const of = openMessages.find(({ message }) => message.id === id)?.message;
      return { thinking: runs(of?.thinking ?? STARTER_THOUGHT), answer: runs(of?.text ?? STARTER_REPLY) };
    },
    modelCard: () => `# Qwen3.5 4B\n\n${BORROW_REPLY}`,
  };
}
