import {
  type Attachment,
  type ErrorReport,
  FIRST_TEMPORARY,
  type Message,
  type MessagePicture,
  type ReplyStats,
  type UnsentEdit,
} from "../bridge/bindings";
import { t } from "../language/text";
import type { ServerState } from "../state/server";

/** Files that are being chosen or read for a message that is not sent. */
export interface PendingFiles {
  id: number;
  /** The chat of the message; null is a new one. */
  chat: number | null;
  /** What they are called; null until they are chosen. */
  name: string | null;
}

/** A page of the panel beside the chat. */
export type InspectorPage = "reply" | "chat";

/** What a message is being changed to. */
export type Edit = Omit<UnsentEdit, "message">;

/** Whether something was changed about a message whose text is `text`. */
export const isChanged = (edit: Edit | null | undefined, text: string): boolean =>
  edit != null && (edit.text !== text || edit.pictures !== null);

/** A message that waits until the reply before it has ended. */
export interface QueuedMessage {
  id: number;
  text: string;
  files: Attachment[];
  pictures: MessagePicture[];
}

/** What only the page knows of the open chat and of what is typed. */
export interface ChatView {
  /** Whether the panel beside the chat is open. */
  inspector: boolean;
  /** What it shows. */
  inspectorPage: InspectorPage;
  /** The reply that it tells of; null for the last one. */
  inspectedReply: number | null;
  /** Whether the settings of the chat's replies are open. */
  repliesOpen: boolean;
  /** Texts not sent yet, by chat. */
  drafts: Record<string, string>;
  /** Files that go with the texts not sent yet, by chat. */
  attached: Record<string, Attachment[]>;
  /** Pictures that go with them, by chat. */
  pictures: Record<string, MessagePicture[]>;
  /** Messages that wait for a reply to end, by chat, in the order in which they will be sent. */
  queued: Record<number, QueuedMessage[]>;
  /** Why they are not sent though no reply is written, by chat. */
  held: Record<number, string>;
  /** Files that are to go with them and are not read yet. */
  pendingFiles: PendingFiles[];
  /** A message is on its way to the shell. */
  sending: boolean;
  /** Why the last action on the open chat failed. */
  actionError: ErrorReport | null;
  /** The new chat that was set by a preset until that was deleted: the shell does not know it yet. */
  unbegun: { navigation: number; preset: number } | null;
  /** The message that is being edited. */
  editing: number | null;
  /** What messages are being changed to, by message; null where that was given up. */
  edits: Record<number, Edit | null>;
  /** The message that pictures are being added to. */
  addingTo: number | null;
  /** The model that is to answer too once the reply of a chat has come. */
  second: { chat: number; name: string } | null;
  /** The versions of a reply that stand side by side. */
  compared: { left: number; right: number } | null;
  /** The message that came into view last because somebody asked for it, and whether it is shown for a moment. */
  jump: { message: number; highlighted: boolean } | null;
}

/** As the window opens. */
export const CHAT_VIEW: ChatView = {
  inspector: false,
  inspectorPage: "reply",
  inspectedReply: null,
  repliesOpen: false,
  drafts: {},
  attached: {},
  pictures: {},
  queued: {},
  held: {},
  pendingFiles: [],
  sending: false,
  actionError: null,
  unbegun: null,
  editing: null,
  edits: {},
  addingTo: null,
  second: null,
  compared: null,
  jump: null,
};

/** The files that the message of the open chat waits for. */
export const awaitedFiles = ({
  pendingFiles,
  chat,
}: Pick<ChatView, "pendingFiles"> & Pick<ServerState, "chat">): PendingFiles[] =>
  pendingFiles.filter((one) => one.chat === chat && one.name !== null);

/** Whether nothing of a chat is stored. */
export const isTemporary = (chat: number | null): chat is number => chat !== null && chat >= FIRST_TEMPORARY;

/** Names the draft of a chat. */
export const draftKey = (chat: number | null): string => (chat === null ? "new" : String(chat));

/** All versions of the reply of which two stand side by side; null where none do, or its chat is left. */
export const comparedVersions = ({
  compared,
  versions,
}: Pick<ChatView, "compared"> & Pick<ServerState, "versions">): number[] | null =>
  (compared &&
    Object.values(versions).find((all) => all.includes(compared.left) && all.includes(compared.right))) ??
  null;

/** The reply that the panel tells of while it tells of one; null where there is none that has ended. */
export function inspected({
  inspector,
  inspectorPage,
  inspectedReply,
  messages,
}: Pick<ChatView, "inspector" | "inspectorPage" | "inspectedReply"> &
  Pick<ServerState, "messages">): Message | null {
  if (!inspector || inspectorPage !== "reply") return null;
  const chosen = messages.find((message) => message.id === inspectedReply && isMeasured(message));
  return chosen ?? messages.findLast(isMeasured) ?? null;
}

/** Whether a message is what a model has written of the older part of a chat. */
export const isSummary = ({ role, model }: Pick<Message, "role" | "model">): boolean =>
  role === "system" && model !== null;

/** Whether a chat has an older part: more than a question that has no answer yet. */
export const canBeSummarised = (messages: Message[]): boolean =>
  messages.filter(({ role, text }) => role === "user" || (role === "assistant" && text !== "")).length > 1;

/** What a summary is called. */
export const summaryName = (): string => t("reply-summary");

/** Whether a message is a reply that has numbers. */
export const isMeasured = ({ stats }: Message): boolean => stats !== null && stats.emitted > 0;

/** The numbers of a reply as far as they can be compared: what plain decoding of rounds would take is not known. */
export const comparable = ({ steps }: Pick<Message, "steps">, stats: ReplyStats): ReplyStats =>
  steps.length > 0 ? { ...stats, plain: null } : stats;
