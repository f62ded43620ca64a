import type { LogLine } from "../../src/bridge/bindings";
import { PAGES } from "../../src/settings/pages";
import { ago } from "../clock";
import { LOCAL_API_BUSY, LOCAL_API_IN_USE, LOCAL_API_PORT_IN_USE } from "../data/localApi";
import { HUGE_MODEL, MACS_LENDING, MACS_PAIRED, macsPairing } from "../data/macs";
import { LAST_LINES, TOOLS, TOOLS_FAILED } from "../data/toolServers";
import { click, drawn, find, type } from "../page";
import { Refusal } from "../shell";
import type { State } from "../state";

const line = (number: number, level: LogLine["level"], source: string, text: string): LogLine => ({
  number,
  at: ago(60_000 - number * 900),
  level,
  source,
  text,
});

const LOG = [
  line(1, "info", "shell", "Foretoken 0.1.0 on macOS 15.3, Apple M4 Max, 64 GB"),
  line(2, "info", "engine", "loaded Qwen3.6 27B in 2.3 s: 1,243 tensors, MTP head of 15"),
  line(3, "warn", "models", "the Hub did not answer in 10 s, trying again"),
  line(4, "info", "engine", "prefill 214 tokens in 210 ms"),
  line(5, "error", "models", "model-00003-of-00006.safetensors: the hash is not the Hub's"),
];

const HOME = "/Users/anna/Library";

const shared: State["answers"] = {
  places: () => [
    { kind: "settings", path: `${HOME}/Application Support/Foretoken` },
    { kind: "chats", path: `${HOME}/Application Support/Foretoken/chats.db` },
    { kind: "models", path: `${HOME}/Application Support/Foretoken/models` },
    { kind: "cache", path: `${HOME}/Caches/Foretoken` },
    { kind: "log", path: `${HOME}/Logs/Foretoken` },
  ],
  stored: () => ({
    bytes: 1_240_000_000,
    model_bytes: 34_800_000_000,
    folders: ["Application Support", "Caches", "Logs", "WebKit"].map(
      (folder) => `${HOME}/${folder}/dev.foretoken.Foretoken`,
    ),
    library: `${HOME}/Application Support/dev.foretoken.Foretoken/models`,
  }),
  logLines: (after) => LOG.filter(({ number }) => number > after),
  crashReports: () => [],
  hasBillOfMaterials: () => true,
  notices: () => [
    { name: "axum", version: "0.8.9", licence: "MIT" },
    { name: "Inter", version: "4.1", licence: "OFL-1.1" },
    { name: "mlx", version: "0.33.0", licence: "MIT" },
    { name: "react", version: "19.3.1", licence: "MIT" },
    { name: "tauri", version: "2.12.0", licence: "Apache-2.0 OR MIT" },
    { name: "tokenizers", version: "0.22.2", licence: "Apache-2.0" },
  ],
  noticeText: () => "Permission is hereby granted, free of charge, to any person obtaining a copy …",
  report: () => "Foretoken 0.1.0",
  toolServerFiles: () => [
    { program: "Claude Desktop", path: `${HOME}/Application Support/Claude/claude_desktop_config.json` },
    { program: "LM Studio", path: "/Users/anna/.lmstudio/mcp.json" },
  ],
  toolServerErrors: () => LAST_LINES,
};

/** The end of the page. */
async function scrollDown(): Promise<void> {
  const page = await find(".settings-page .screen");
  page.scrollTop = page.scrollHeight;
  await drawn();
}

export const SETTINGS: State[] = PAGES.map(({ id }) => ({
  name: `settings-${id}`,
  settings: id,
  answers: shared,
  ...(id === "tools" && { snapshot: { tools: TOOLS } }),
  act: () => (id === "notices" ? click("notice-open", "axum") : undefined),
}));

SETTINGS.push({
  name: "settings-diagnostics-crashes",
  settings: "diagnostics",
  answers: {
    ...shared,
    crashReports: () => [
      {
        file: "foretoken-engine-14-2026-11-21-090012.ips",
        program: "foretoken-engine-14",
        at: "2026-11-21 09:00",
        exception: "EXC_CRASH (SIGABRT), Abort trap: 6",
      },
      {
        file: "foretoken-2026-11-20-101112.ips",
        program: "foretoken",
        at: "2026-11-20 10:11",
        exception: "EXC_BAD_ACCESS (SIGSEGV), KERN_INVALID_ADDRESS at 0x8, Segmentation fault: 11",
      },
    ],
  },
});

SETTINGS.push({
  name: "settings-models-proxy",
  settings: "models",
  answers: shared,
  library: {
    hub: {
      settings: { address: "https://mirror.example.org", proxy: "", cache: "" },
      endpoint_variable: null,
      proxy_variable: "HTTPS_PROXY",
      found_cache: "/Users/anna/.cache/huggingface/hub",
    },
  },
  act: () => click("hub-proxy-control"),
});

SETTINGS.push({
  name: "settings-local_api-in-use",
  settings: "local_api",
  answers: shared,
  snapshot: { local_api: LOCAL_API_IN_USE },
});

SETTINGS.push({
  name: "settings-local_api-more",
  settings: "local_api",
  answers: shared,
  act: () => click("api-more"),
});

SETTINGS.push({
  name: "settings-local_api-port-in-use",
  settings: "local_api",
  answers: shared,
  snapshot: { local_api: LOCAL_API_PORT_IN_USE },
});

SETTINGS.push({
  name: "settings-local_api-all-requests",
  settings: "local_api",
  answers: shared,
  snapshot: { local_api: LOCAL_API_BUSY },
  act: async () => {
    await click("all-requests");
    (await find("[data-testid=all-requests]")).scrollIntoView();
  },
});

SETTINGS.push({
  name: "settings-other_macs-paired",
  settings: "other_macs",
  answers: shared,
  snapshot: { macs: MACS_PAIRED },
  library: { models: [HUGE_MODEL] },
});

SETTINGS.push({
  name: "settings-other_macs-moved",
  settings: "other_macs",
  answers: shared,
  snapshot: { macs: { ...MACS_PAIRED, paired: MACS_PAIRED.paired.slice(0, 2) } },
  library: { models: [HUGE_MODEL] },
  act: async () => {
    const edge = await find("[data-testid=split-edge]");
    edge.dispatchEvent(new KeyboardEvent("keydown", { key: "PageUp", bubbles: true }));
    await drawn();
  },
});

SETTINGS.push({
  name: "settings-other_macs-pairing",
  settings: "other_macs",
  answers: shared,
  act: ({ tell }) => tell({ type: "macs", macs: macsPairing() }),
});

SETTINGS.push({
  name: "settings-other_macs-lending",
  settings: "other_macs",
  answers: shared,
  snapshot: { macs: MACS_LENDING },
  act: scrollDown,
});

SETTINGS.push({
  name: "settings-data-remove",
  settings: "data",
  answers: shared,
  act: () => click("remove-everything"),
});

SETTINGS.push({
  name: "settings-tools-open",
  settings: "tools",
  answers: shared,
  snapshot: { tools: TOOLS },
  act: async () => {
    await click("server-fold", "Notes");
    (await find("[data-testid=server-fold][aria-expanded=true]")).scrollIntoView();
  },
});

SETTINGS.push({
  name: "settings-tools-failed",
  settings: "tools",
  answers: shared,
  snapshot: { tools: TOOLS_FAILED },
  act: async () => {
    await click("server-fold", "Weather");
    await click("read-lines");
    (await find("[data-testid=server-lines]")).scrollIntoView({ block: "end" });
  },
});

SETTINGS.push({
  name: "settings-tools-form",
  settings: "tools",
  answers: {
    ...shared,
    putToolServer: () => {
      throw new Refusal({
        code: "server_folder_relative",
        message: 'The folder "Weather" is not named from the root on.',
        hint: 'Write the whole path, from "/" on.',
      });
    },
  },
  snapshot: { tools: TOOLS },
  act: async () => {
    await click("add-server");
    await type("server-name", "Weather");
    await type("server-command", "uvx");
    await type("server-arguments", "mcp-weather\n--units=metric");
    await type("server-folder", "Weather");
    await click("add-server-value");
    await type("server-value-name", "WEATHER_KEY");
    await type("server-value-value", "not shown");
    await click("save-server");
    (await find("[data-testid=server-name]")).scrollIntoView();
    await drawn();
  },
});

SETTINGS.push({
  name: "settings-tools-allowed",
  settings: "tools",
  answers: {
    ...shared,
    importToolServerFile: () => ({
      added: ["weather"],
      left_out: [
        {
          name: "old-search",
          error: {
            code: "server_transport_old",
            message: "This server is reached by HTTP+SSE, which is no longer in use.",
            hint: "Ask its maker for a newer address.",
          },
        },
      ],
    }),
  },
  snapshot: { tools: TOOLS },
  act: async () => {
    await click("import-file", "Claude Desktop");
    await scrollDown();
  },
});
