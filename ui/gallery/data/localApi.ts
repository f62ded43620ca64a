import type { ApiOutcome, ApiWritten, EndedApiRequest, LocalApi } from "../../src/bridge/bindings";
import { INITIAL_LOCAL_API } from "../../src/state/server";
import { ago, MINUTE } from "../clock";

/** Nobody has switched it on. */
export const LOCAL_API: LocalApi = {
  settings: INITIAL_LOCAL_API.settings,
  state: { state: "off" },
  token: null,
  model: "Qwen/Qwen3.6-27B",
  offered: ["Qwen/Qwen3.6-27B", "Qwen/Qwen3.5-4B"],
  network_name: "Annas-Mac.local",
  requests: { live: [], ended: [], tokens_per_second: 0 },
};

const wrote = (tokens: number, speed: number, accepted: number, drafted: number): ApiWritten => ({
  tokens,
  tokens_per_second: speed,
  accepted,
  drafted,
  acceptance: accepted / drafted,
});

const nothing: ApiWritten = {
  tokens: 0,
  tokens_per_second: null,
  accepted: 0,
  drafted: null,
  acceptance: null,
};

const ended = (id: string, program: string, minutes: number, written: ApiWritten): EndedApiRequest => ({
  id,
  program,
  dialect: "messages",
  model: "Qwen/Qwen3.6-27B",
  came_at: ago(minutes * MINUTE),
  took_ms: 8000,
  written,
  outcome: { outcome: "done" } as ApiOutcome,
});

/** An editor and an agent use the model. */
export const LOCAL_API_IN_USE: LocalApi = {
  ...LOCAL_API,
  settings: { ...LOCAL_API.settings, on: true },
  state: { state: "on", port: 3673 },
  token: "keychain",
  requests: {
    tokens_per_second: 41,
    live: [
      {
        id: "req_1",
        program: "Zed",
        dialect: "chat",
        model: "Qwen/Qwen3.6-27B",
        came_at: ago(9000),
        stage: { stage: "writing" },
        written: { tokens: 846, tokens_per_second: 41, accepted: 512, drafted: null, acceptance: 0.84 },
      },
      {
        id: "req_2",
        program: "Claude Code",
        dialect: "messages",
        model: "Qwen/Qwen3.6-27B",
        came_at: ago(4000),
        stage: { stage: "reading", done: 12_480, total: 18_902 },
        written: nothing,
      },
    ],
    ended: [
      ended("req_3", "curl", 4, wrote(312, 57, 180, 228)),
      ended("req_4", "Claude Code", 11, wrote(1906, 62, 1204, 1400)),
      {
        ...ended("req_5", "my-script", 30, nothing),
        outcome: { outcome: "failed", code: "context_length_exceeded" },
      },
    ],
  },
};

/** All that is remembered of an afternoon. */
export const LOCAL_API_BUSY: LocalApi = {
  ...LOCAL_API_IN_USE,
  requests: {
    live: [],
    tokens_per_second: 0,
    ended: Array.from({ length: 50 }, (_, place) => {
      const program = ["Zed", "Claude Code", "curl"][place % 3] ?? "curl";
      const request = ended(`req_${place}`, program, 3 * place, wrote(120 + 37 * place, 52, 70, 90));
      return place % 9 === 5 ? { ...request, outcome: { outcome: "left" } } : request;
    }),
  },
};

/** Another program has the port. */
export const LOCAL_API_PORT_IN_USE: LocalApi = {
  ...LOCAL_API,
  settings: { ...LOCAL_API.settings, on: true },
  state: { state: "port_in_use", port: 3673, holder: { name: "LM Studio", pid: 812 }, free: 3674 },
};
