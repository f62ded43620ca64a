import type { ReplyCall } from "../../src/bridge/bindings";
import {
  ASKING_CHAT,
  CHANGE,
  DONE_CHAT,
  detailsOf,
  FAILED_CHAT,
  PAUSED_CHAT,
  RUNNING_CHAT,
  RUNNING_REPLY,
  WRITING_CHAT,
} from "../data/calls";
import { OFFERS, OFFERS_FAILED } from "../data/offers";
import { TOOLS, TOOLS_ASKING } from "../data/toolServers";
import { click, drawn, find, type } from "../page";
import type { State } from "../state";

const answers = { callDetails: (id: ReplyCall["id"]) => detailsOf(id) };

/** Chats whose replies use tools. */
export const CHAT_TOOLS: State[] = [
  {
    name: "chat-tools-done",
    snapshot: { open: DONE_CHAT, tools: TOOLS },
    answers,
    act: async () => {
      await click("call-toggle", "read_text_file");
      await click("reply-footer");
      await click("rounds-fold");
    },
  },
  {
    name: "chat-tools-asking",
    snapshot: { open: ASKING_CHAT, tools: TOOLS },
    answers,
  },
  {
    name: "chat-tools-asking-edited",
    snapshot: { open: ASKING_CHAT, tools: TOOLS },
    answers,
    act: async () => {
      await click("edit-arguments");
      await click("deny-why");
    },
  },
  {
    name: "chat-tools-write",
    snapshot: { open: WRITING_CHAT, tools: TOOLS },
    answers: { ...answers, callDifference: () => CHANGE },
    act: async () => {
      await find('[data-testid="difference"]');
    },
  },
  {
    name: "chat-tools-asks",
    snapshot: { open: RUNNING_CHAT, tools: TOOLS_ASKING },
    answers: { ...answers, attach: () => RUNNING_REPLY },
  },
  {
    name: "chat-tools-popover",
    snapshot: { open: DONE_CHAT, tools: TOOLS },
    act: async () => {
      await click("tools-control");
      await click("tool-source-calculator");
      // It is counted meanwhile.
      await find('[data-testid="tools-cost"]');
    },
  },
  {
    name: "chat-server-prompt",
    snapshot: { open: DONE_CHAT, tools: TOOLS },
    answers: { ...answers, serverOffers: () => OFFERS },
    act: async () => {
      await type("composer", "/");
      await click("prompt", "Triage an issue");
    },
  },
  {
    name: "chat-server-resources",
    snapshot: { open: DONE_CHAT, tools: TOOLS },
    answers: { ...answers, serverOffers: () => OFFERS_FAILED },
    act: async () => {
      await click("attach");
      (await find("[role=menuitem]:nth-of-type(3)")).click();
      await find('[data-testid="resource"]');
      await drawn();
    },
  },
  {
    name: "chat-tools-failed",
    snapshot: { open: FAILED_CHAT, tools: TOOLS },
    answers,
  },
  {
    name: "chat-tools-paused",
    snapshot: { open: PAUSED_CHAT, tools: TOOLS },
    answers,
  },
];
