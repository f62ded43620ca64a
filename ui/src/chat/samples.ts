import type {
  BranchMessage,
  CallId,
  ChatSummary,
  MessagePicture,
  OpenedChat,
  OwnSource,
  ReplyCall,
  ReplyStats,
  ReplyStep,
  ServerInfo,
  ToolInfo,
  ToolsState,
} from "../bridge/bindings";
import { useStore } from "../state/store";

/** A chat in the list, for tests. */
export const chatSummary = (id: number, more: Partial<ChatSummary> = {}): ChatSummary => ({
  id,
  title: `Chat ${id}`,
  named: false,
  pinned: false,
  tags: [],
  origin: null,
  project: null,
  unseen: null,
  created_at: 0,
  updated_at: id,
  ...more,
});

/** A chat as it opens, for tests. */
export const openedChat = (id: number, messages: BranchMessage[] = []): OpenedChat => ({
  chat: chatSummary(id),
  settings: {
    system_prompt: "",
    without_standing: false,
    without_project: false,
    generation: null,
    preset: null,
    tools: [],
  },
  draft: { text: "", files: [], pictures: [] },
  edits: [],
  messages,
});

/** A picture of a message, for tests. */
export const picture = (name: string, more: Partial<MessagePicture> = {}): MessagePicture => ({
  hash: name,
  name,
  format: "png",
  detail: "standard",
  width: 1600,
  height: 1200,
  tokens: 1008,
  bytes: 2.1e6,
  missing: false,
  ...more,
});

/** What a reply took, for tests. */
export const replyStats = (more: Partial<ReplyStats> = {}): ReplyStats => ({
  prompt_tokens: 10,
  cached_tokens: 0,
  emitted: 742,
  steps: 412,
  tokens_per_pass: 1.8,
  tokens_per_second: 58.3,
  prefill_seconds: 0.1,
  decode_seconds: 12,
  time_to_first_token_seconds: 0.2,
  draft_seconds: 1,
  verify_seconds: 9,
  sample_seconds: 0.5,
  host_seconds: 1,
  peak_memory_bytes: 1,
  pictures: 0,
  picture_tokens: 0,
  unseen: { no_sight: 0, no_room: 0, missing: 0, undecoded: 0 },
  tower_seconds: 0,
  chat_bytes: 1.4e9,
  shared_steps: 0,
  positions: [
    { drafted: 412, accepted: 330 },
    { drafted: 100, accepted: 50 },
  ],
  looked_up: { drafted: 0, accepted: 0 },
  predicted: null,
  by_draft_model: { drafted: 0, accepted: 0 },
  forced: 0,
  refused_drafts: 0,
  exact: "bitwise",
  thinking: { emitted: 0, steps: 0, drafted: 0, accepted: 0, seconds: 0, cut: false },
  depth: { steps_per_entry: 7, depths: [1, 1, 1.4, 1.2] },
  passes: [1, 0, 2, 1],
  sampling: useStore.getInitialState().settings.sampling,
  seed: 1,
  drafting_note: null,
  version: "0.1.0",
  plain: null,
  ...more,
});

/** A call of a tool that is done, for tests. */
export const replyCall = (id: CallId, more: Partial<ReplyCall> = {}): ReplyCall => ({
  id,
  server: null,
  tool: "calculator",
  arguments_written: "{}",
  arguments_sent: null,
  decision: null,
  grant: null,
  asked_at: null,
  started_at: null,
  ended_at: null,
  state: { state: "done" },
  may_leak: false,
  result: null,
  result_for_model: null,
  left_out: null,
  ...more,
});

/** A round of a reply that uses tools, for tests. */
export const replyStep = (ordinal: number, more: Partial<ReplyStep> = {}): ReplyStep => ({
  ordinal,
  thinking: "",
  text: "",
  stats: null,
  status: { state: "finished", reason: "stop" },
  calls: [],
  ...more,
});

const SAYS_NOTHING = { reads_only: null, destroys: null, repeatable: null, reaches_out: null };

/** A tool, for tests. */
export const toolInfo = (name: string, more: Partial<ToolInfo> = {}): ToolInfo => ({
  name,
  title: null,
  description: "",
  claims: SAYS_NOTHING,
  listed: `{"name":"${name}"}`,
  ...more,
});

/** The app's own tools, by what they are switched on by, for tests. */
export const ownSources = (): OwnSource[] =>
  Object.entries({
    calculator: ["calculator"],
    current_date: ["current_date"],
    read_page: ["read_page"],
    search_web: ["search_web"],
    read_files: ["list_files", "read_file", "search_files"],
    write_files: ["write_file", "edit_file"],
  }).map(([id, tools]) => ({ id, tools: tools.map((name) => toolInfo(name)) }));

/** A server of tools that runs, for tests. */
export const toolServer = (more: Partial<ServerInfo> = {}): ServerInfo => ({
  slug: "files",
  name: "My files",
  transport: {
    kind: "program",
    command: "files",
    arguments: ["--in", "my notes"],
    environment: [],
    folder: null,
  },
  program: "/bin/files",
  enabled: true,
  signed_in: false,
  status: { state: "running" },
  tools: [
    toolInfo("read_file", { claims: { ...SAYS_NOTHING, reads_only: true } }),
    toolInfo("write_file", { claims: { ...SAYS_NOTHING, destroys: true } }),
  ],
  ...more,
});

/** What models may use, for tests. */
export const toolsState = (more: Partial<ToolsState> = {}): ToolsState => ({
  built_in: ownSources(),
  folders: [{ name: "Notes", path: "/Users/anna/Notes" }],
  search: "https://search.example.org",
  servers: [toolServer()],
  questions: [],
  permissions: [],
  ...more,
});
