import type { OwnSource, ServerInfo, ToolClaims, ToolInfo, ToolsState } from "../../src/bridge/bindings";
import { ago, DAY } from "../clock";

const SAYS_NOTHING: ToolClaims = { reads_only: null, destroys: null, repeatable: null, reaches_out: null };

const tool = (name: string, description: string, claims: Partial<ToolClaims> = {}): ToolInfo => ({
  name,
  title: null,
  description,
  claims: { ...SAYS_NOTHING, ...claims },
  listed: JSON.stringify({ type: "function", function: { name, description } }),
});

const OWN: OwnSource[] = [
  { id: "calculator", tools: [tool("calculator", "Works out sums.")] },
  { id: "current_date", tools: [tool("current_date", "Tells the date.")] },
  { id: "read_page", tools: [tool("read_page", "Reads a page.")] },
  { id: "search_web", tools: [tool("search_web", "Searches the web.")] },
  {
    id: "read_files",
    tools: [
      tool("list_files", "Lists files."),
      tool("read_file", "Reads a file."),
      tool("search_files", "Searches files."),
    ],
  },
  { id: "write_files", tools: [tool("write_file", "Writes a file."), tool("edit_file", "Edits a file.")] },
];

const NOTES: ServerInfo = {
  slug: "notes",
  name: "Notes",
  transport: {
    kind: "program",
    command: "npx",
    arguments: ["-y", "@modelcontextprotocol/server-filesystem@2026.8.31", "/Users/anna/Notes"],
    environment: [],
    folder: null,
  },
  program: "/opt/homebrew/bin/npx",
  enabled: true,
  signed_in: false,
  status: { state: "running" },
  tools: [
    tool("read_text_file", "Reads a file and returns all of its text.", { reads_only: true }),
    tool("write_file", "Makes a file, or replaces one with new text.", { destroys: true }),
    tool("create_directory", "Makes a folder, and those above it that are not there.", {
      reads_only: false,
      destroys: false,
    }),
    tool("search_files", "Looks for files whose names fit a pattern."),
  ],
};

const ISSUES: ServerInfo = {
  slug: "issues",
  name: "Issues",
  transport: { kind: "http", address: "https://mcp.example.org/issues", headers: ["Authorization"] },
  program: null,
  enabled: true,
  signed_in: true,
  status: { state: "stopped" },
  tools: [tool("list_issues", "Lists open issues.", { reads_only: true, reaches_out: true })],
};

const WEATHER: ServerInfo = {
  slug: "weather",
  name: "Weather",
  transport: {
    kind: "program",
    command: "uvx",
    arguments: ["mcp-weather"],
    environment: ["WEATHER_KEY"],
    folder: "/Users/anna/Weather",
  },
  program: null,
  enabled: false,
  signed_in: false,
  status: { state: "stopped" },
  tools: [],
};

/** Servers in the states in which they usually are. */
export const TOOLS: ToolsState = {
  built_in: OWN,
  folders: [
    { name: "Notes", path: "/Users/anna/Notes" },
    { name: "Plans", path: "/Users/anna/Documents/Garden/Plans" },
  ],
  search: "https://search.example.org",
  servers: [ISSUES, NOTES, WEATHER],
  questions: [],
  permissions: [
    {
      id: 3,
      server: "",
      server_fingerprint: "example.org",
      tools: { kind: "one", tool: { tool: "read_page", fingerprint: "f3" } },
      chat: null,
      chat_title: null,
      given_at: ago(20 * DAY),
    },
    {
      id: 1,
      server: "notes",
      server_fingerprint: "c1",
      tools: { kind: "one", tool: { tool: "read_text_file", fingerprint: "f1" } },
      chat: null,
      chat_title: null,
      given_at: ago(12 * DAY),
    },
    {
      id: 2,
      server: "issues",
      server_fingerprint: "c2",
      tools: { kind: "every", tools: [{ tool: "list_issues", fingerprint: "f2" }] },
      chat: 3,
      chat_title: "Why the borrow checker is right",
      given_at: ago(DAY),
    },
  ],
};

/** One of them asks for a form in the middle of a call. */
export const TOOLS_ASKING: ToolsState = {
  ...TOOLS,
  questions: [
    {
      id: 0,
      server: "issues",
      message:
        "There are two boards on which this issue could be opened. Who should look at it, and where?\n\nOthers see the issue at once.",
      wants: {
        kind: "form",
        fields: [
          {
            name: "assignee",
            title: "Who looks at it",
            description: "A name, as the board has it.",
            required: true,
            default: null,
            kind: { kind: "text", format: null, least: null, most: 40 },
          },
          {
            name: "board",
            title: "Board",
            description: null,
            required: true,
            default: '"kitchen"',
            kind: {
              kind: "choice",
              options: [
                { value: "kitchen", title: "Kitchen" },
                { value: "bakery", title: "Bakery" },
              ],
              several: false,
              least: null,
              most: null,
            },
          },
          {
            name: "mail",
            title: "Tell everybody by mail",
            description: "Whoever follows the board gets one.",
            required: false,
            default: "true",
            kind: { kind: "switch" },
          },
        ],
      },
    },
    {
      id: 1,
      server: "notes",
      message: "Sign in to go on.",
      wants: { kind: "visit", address: "https://notes.example.org/sign-in?request=42" },
    },
  ],
};

/** One of them does not start, and one wants the person to sign in. */
export const TOOLS_FAILED: ToolsState = {
  ...TOOLS,
  servers: [
    {
      ...ISSUES,
      signed_in: false,
      status: {
        state: "failed",
        error: {
          code: "server_sign_in",
          message: "The server wants a sign-in.",
          hint: "Sign in to it in the settings, or add the header with your key.",
        },
      },
    },
    NOTES,
    {
      ...WEATHER,
      enabled: true,
      program: "/Users/anna/.local/bin/uvx",
      status: {
        state: "failed",
        error: {
          code: "server_gone",
          message: "The server is gone.",
          hint: "Look at the last lines that it wrote, and try its command in a terminal.",
        },
      },
    },
  ],
};

/** What its program has written. */
export const LAST_LINES = `Installed 31 packages in 214ms
Traceback (most recent call last):
  File "/Users/anna/.cache/uv/mcp-weather/server.py", line 12, in <module>
    key = os.environ["WEATHER_KEY"]
KeyError: 'WEATHER_KEY'`;
