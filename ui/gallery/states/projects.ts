import type { ChatSummary, Project, ProjectChat } from "../../src/bridge/bindings";
import { chatSummary } from "../../src/chat/samples";
import { DEFAULT_CHAT_SETTINGS } from "../../src/state/server";
import { setView, useStore } from "../../src/state/store";
import { ago, DAY, MINUTE } from "../clock";
import { CHATS, SOURDOUGH_CHAT } from "../data/chats";
import { click } from "../page";
import type { State } from "../state";

const GREENHOUSE: Project = {
  id: 1,
  name: "Greenhouse",
  instructions:
    "A lean-to greenhouse, 3 × 2 m, on the south wall. Tomatoes, peppers and one fig. Sensors write a line every ten minutes to october.csv. Answer in metric units.",
  settings: DEFAULT_CHAT_SETTINGS,
  folder: null,
  files: [
    { id: 1, name: "october.csv", tokens: 4212, in_folder: false, trouble: null },
    { id: 2, name: "planting plan.pdf", tokens: 1540, in_folder: false, trouble: null },
    { id: 3, name: "sensors.py", tokens: 558, in_folder: false, trouble: null },
  ],
  chats: 4,
};

const THESIS: Project = {
  id: 2,
  name: "Thesis, chapter 3: what the archives of the valley’s mills say",
  instructions: "",
  settings: DEFAULT_CHAT_SETTINGS,
  folder: null,
  files: [],
  chats: 0,
};

const chat = (id: number, title: string, age: number, excerpt: string, more: Partial<ChatSummary> = {}) => ({
  chat: chatSummary(id, { title, project: 1, updated_at: ago(age), created_at: ago(age), ...more }),
  excerpt,
});

const INSIDE: ProjectChat[] = [
  chat(
    71,
    "Cold nights in the greenhouse",
    4 * MINUTE,
    "Three nights fell below 10 °C, where tomatoes stop ripening.",
  ),
  chat(
    72,
    "A watering plan for winter",
    2 * DAY,
    "Once a week, in the morning, and only where the soil is dry a finger deep.",
    {
      unseen: "written",
    },
  ),
  chat(
    73,
    "Tomatoes for the north side of the house",
    40 * DAY,
    "With four hours of sun, choose early ones: Glacier, Stupice, Sub-Arctic Plenty and whatever else the nursery has in a four-month season.",
  ),
  chat(74, "Sensor script", 47 * DAY, "The reply ended early: the model ran out of memory.", {
    unseen: "failed",
  }),
];

const answers: State["answers"] = { projectChats: (project) => (project === 1 ? INSIDE : []) };
const snapshot: State["snapshot"] = { projects: [GREENHOUSE, THESIS] };
const about = { ...SOURDOUGH_CHAT.chat, project: 1 };

/** Projects: in the list, their pages, and what is asked about them. */
export const PROJECTS: State[] = [
  { name: "project", snapshot, answers, act: () => click("project", "Greenhouse") },
  { name: "project-empty", snapshot, answers, act: () => click("project", "Thesis") },
  {
    name: "project-files-arriving",
    snapshot,
    answers,
    act: async () => {
      await click("project", "Greenhouse");
      setView({ readingFiles: { 1: ["seed catalogue 2026.pdf", "frost dates.xlsx"] } });
    },
  },
  {
    name: "project-folder",
    snapshot: {
      projects: [
        {
          ...GREENHOUSE,
          folder: "/Users/ines/Documents/Greenhouse and garden",
          files: [
            { id: 1, name: "2026/october.csv", tokens: 4212, in_folder: true, trouble: null },
            { id: 2, name: "planting plan.pdf", tokens: 1540, in_folder: true, trouble: null },
            {
              id: 3,
              name: "sensors.py",
              tokens: 0,
              in_folder: false,
              trouble: "It is no longer in the folder.",
            },
          ],
        },
        THESIS,
      ],
    },
    answers: { ...answers, readProjectFolder: () => ({ replaced: [], refused: [], notes: [] }) },
    act: () => click("project", "Greenhouse"),
  },
  {
    name: "project-chat",
    snapshot: { ...snapshot, open: { ...SOURDOUGH_CHAT, chat: about } },
    answers,
    act: async () => {
      const { preferences } = useStore.getState();
      useStore.setState({
        inspector: true,
        inspectorPage: "chat",
        preferences: { ...preferences, open_projects: [1] },
      });
    },
  },
  {
    name: "project-drag",
    snapshot,
    answers,
    act: async () => {
      setView({ dragged: { id: CHATS[2]?.id ?? 0, at: { x: 96, y: 260 }, to: { project: 1 } } });
    },
  },
  {
    name: "project-move",
    snapshot,
    answers,
    act: () => setView({ moving: CHATS[2]?.id ?? null }),
  },
  { name: "project-delete", snapshot, answers, act: () => setView({ deletingProject: 1 }) },
];
