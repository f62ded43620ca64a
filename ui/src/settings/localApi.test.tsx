// @vitest-environment happy-dom
import { cleanup, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type LocalApi, TOKEN_SHOWN } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { modelInfo } from "../models/samples";
import { INITIAL_LOCAL_API } from "../state/server";
import { dispatch, useStore } from "../state/store";
import { LocalApiPage } from "./LocalApiPage";
import { snippets } from "./snippets";

const initial = useStore.getInitialState();

const ON: LocalApi = {
  ...INITIAL_LOCAL_API,
  settings: { ...INITIAL_LOCAL_API.settings, on: true },
  state: { state: "on", port: 3673 },
  token: "keychain",
  model: "org/model",
};

const tell = (local_api: LocalApi) => dispatch({ kind: "app", event: { type: "local_api", local_api } });

beforeEach(() => useStore.setState({ ...initial, opened: true }, true));
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

describe("the local API", () => {
  it("is off until it is switched on", async () => {
    const set = vi.spyOn(shell, "setLocalApi").mockResolvedValue(null);
    render(<LocalApiPage />);
    expect(screen.getByTestId("api-state").textContent).toBe("Off");
    expect(screen.queryByTestId("snippet")).toBeNull();
    await userEvent.click(screen.getByTestId("api-on"));
    expect(set).toHaveBeenCalledWith({ ...INITIAL_LOCAL_API.settings, on: true });
  });

  it("copies the token and texts through the shell, which alone knows it", async () => {
    const copied = vi.spyOn(shell, "copyForProgram").mockResolvedValue(null);
    tell(ON);
    render(<LocalApiPage />);
    await userEvent.click(screen.getByTestId("copy-token"));
    await userEvent.click(screen.getByTestId("copy-address"));
    await userEvent.click(screen.getByTestId("copy-snippet"));
    const texts = copied.mock.calls.map(([text]) => text);
    expect(texts.slice(0, 2)).toEqual([TOKEN_SHOWN, "http://localhost:3673/v1"]);
    expect(texts[2]).toBe(screen.getByTestId("snippet").textContent);
    expect(texts[2]).toContain(TOKEN_SHOWN);
    expect(screen.getByTestId("copy-token").textContent).toBe("Copied");
  });

  it("asks before it makes a new token", async () => {
    const renew = vi.spyOn(shell, "renewApiToken").mockResolvedValue(null);
    tell(ON);
    render(<LocalApiPage />);
    await userEvent.click(screen.getByTestId("renew-token"));
    expect(renew).not.toHaveBeenCalled();
    await userEvent.click(screen.getByTestId("renew-token-sure"));
    expect(renew).toHaveBeenCalledOnce();
  });

  it("offers another port where its own is in use", async () => {
    const take = vi.spyOn(shell, "takeFreePort").mockResolvedValue(null);
    const state = { state: "port_in_use", port: 3673 } as const;
    tell({ ...ON, state: { ...state, holder: { name: "LM Studio", pid: 812 }, free: 3675 } });
    render(<LocalApiPage />);
    const standing = () => screen.getByTestId("api-state").querySelector("p")?.textContent;
    expect(standing()).toBe("LM Studio (process 812) already uses port 3673");
    const button = screen.getByTestId("take-free-port");
    expect(button.textContent).toBe("Use port 3675");
    await userEvent.click(button);
    expect(take).toHaveBeenCalledOnce();
    tell({ ...ON, state: { ...state, holder: null, free: null } });
    await waitFor(() => expect(standing()).toBe("Another program already uses port 3673"));
    expect(screen.queryByTestId("take-free-port")).toBeNull();
  });

  it("shows requests as they go on, and stops one", async () => {
    const stop = vi.spyOn(shell, "stopApiRequest").mockResolvedValue(null);
    const request = {
      id: "req_1",
      program: "Zed",
      dialect: "chat",
      model: "org/model",
      came_at: 0,
    } as const;
    const written = { tokens: 40, tokens_per_second: 12, accepted: 9, drafted: 18, acceptance: 0.5 };
    tell({
      ...ON,
      requests: {
        live: [{ ...request, stage: { stage: "reading", done: 30, total: 120 }, written }],
        ended: [
          {
            ...request,
            id: "req_0",
            took_ms: 5,
            written,
            outcome: { outcome: "failed", code: "queue_full" },
          },
        ],
        tokens_per_second: 12,
      },
    });
    render(<LocalApiPage />);
    expect(screen.getByTestId("api-state").textContent).toBe(
      "On at http://localhost:3673 · 1 request · 12 tok/s",
    );
    expect(screen.getByTestId("api-request").textContent).toContain("reading 25 %");
    const ended = screen.getByTestId("api-ended").textContent;
    expect(ended).toContain("refused: too many others wait · 40 tokens");
    expect(ended).toContain("50 %");
    await userEvent.click(within(screen.getByTestId("api-request")).getByTestId("stop-request"));
    expect(stop).toHaveBeenCalledWith("req_1");
  });

  it("shows the last requests, and all that are remembered on demand, without moving the focus", async () => {
    const ended = Array.from({ length: 50 }, (_, place) => ({
      id: `req_${place}`,
      program: `program ${place}`,
      dialect: "chat" as const,
      model: "org/model",
      came_at: 0,
      took_ms: 5,
      written: { tokens: 0, tokens_per_second: null, accepted: 0, drafted: null, acceptance: null },
      outcome: { outcome: "done" as const },
    }));
    const show = (count: number) =>
      tell({ ...ON, requests: { live: [], ended: ended.slice(0, count), tokens_per_second: 0 } });
    const rows = () => screen.getAllByTestId("api-ended").length;
    show(12);
    render(<LocalApiPage />);
    expect(screen.queryByTestId("all-requests")).toBeNull();
    show(50);
    const more = await screen.findByRole("button", { name: "Show all 50" });
    expect(rows()).toBe(12);
    const table = screen.getByTestId("api-requests");
    expect(more.getAttribute("aria-controls")).toBe(table.id);
    expect(more.compareDocumentPosition(table) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
    more.focus();
    await userEvent.keyboard("{Enter}");
    expect(rows()).toBe(50);
    expect(document.activeElement?.textContent).toBe("Show the last 12");
    await userEvent.keyboard("{Enter}");
    expect(rows()).toBe(12);
  });

  it("takes only what can be a port", async () => {
    const set = vi.spyOn(shell, "setLocalApi").mockResolvedValue(null);
    render(<LocalApiPage />);
    await userEvent.click(screen.getByTestId("api-more"));
    const field = screen.getByTestId("api-port");
    for (const [text, sent] of [
      ["99999", 0],
      ["12ab", 0],
      ["8011", 1],
    ] as const) {
      await userEvent.clear(field);
      await userEvent.type(field, text);
      await userEvent.click(screen.getByTestId("set-api-port"));
      expect(set, text).toHaveBeenCalledTimes(sent);
    }
    expect(set).toHaveBeenCalledWith({ ...INITIAL_LOCAL_API.settings, port: 8011 });
  });

  it("never lets other devices in without the token", async () => {
    const set = vi.spyOn(shell, "setLocalApi").mockResolvedValue(null);
    const settings = { ...INITIAL_LOCAL_API.settings, on: true, needs_token: false };
    tell({ ...ON, settings });
    render(<LocalApiPage />);
    expect(screen.queryByTestId("network-address")).toBeNull();
    await userEvent.click(screen.getByTestId("api-more"));
    await userEvent.click(screen.getByTestId("api-network"));
    expect(set).toHaveBeenCalledWith({ ...settings, network: true, needs_token: true });
    tell({ ...ON, settings: { ...settings, network: true }, network_name: "mac.local" });
    expect((await screen.findByTestId("network-address")).textContent).toBe("http://mac.local:3673/v1");
  });

  it("lists pages that may connect, each once and without a path", async () => {
    const set = vi.spyOn(shell, "setLocalApi").mockResolvedValue(null);
    const settings = { ...INITIAL_LOCAL_API.settings, origins: ["app://obsidian.md"] };
    tell({ ...ON, settings });
    render(<LocalApiPage />);
    await userEvent.click(screen.getByTestId("api-more"));
    const field = screen.getByTestId("api-origin-add");
    await userEvent.type(field, "app://obsidian.md{enter}");
    expect(set).not.toHaveBeenCalled();
    await userEvent.clear(field);
    await userEvent.type(field, " https://example.com/ {enter}");
    const origins = ["app://obsidian.md", "https://example.com"];
    expect(set).toHaveBeenLastCalledWith({ ...settings, origins });
    await userEvent.click(screen.getByRole("button", { name: "Remove app://obsidian.md" }));
    expect(set).toHaveBeenLastCalledWith({ ...settings, origins: [] });
  });

  it("has names stand for models that are here", async () => {
    const set = vi.spyOn(shell, "setLocalApi").mockResolvedValue(null);
    const aliases = [
      { name: "claude-*", model: null },
      { name: "gpt-5", model: "org/gone" },
    ];
    const settings = { ...INITIAL_LOCAL_API.settings, aliases };
    tell({ ...ON, settings, offered: ["org/model", "org/other"] });
    render(<LocalApiPage />);
    await userEvent.click(screen.getByTestId("api-more"));
    const choice = (name: string) => screen.getByRole<HTMLSelectElement>("combobox", { name });
    expect(choice("The model for gpt-5").value, "a model that is gone stays named").toBe("org/gone");
    await userEvent.selectOptions(choice("The model for claude-*"), "org/other");
    expect(set).toHaveBeenLastCalledWith({
      ...settings,
      aliases: [{ name: "claude-*", model: "org/other" }, aliases[1]],
    });
    const field = screen.getByTestId("api-alias-add");
    const calls = set.mock.calls.length;
    for (const name of ["GPT-5", "org/model", "Other", "default"]) {
      await userEvent.clear(field);
      await userEvent.type(field, `${name}{enter}`);
      expect(set, name).toHaveBeenCalledTimes(calls);
      expect(field, name).toHaveProperty("value", name);
    }
    await userEvent.clear(field);
    await userEvent.type(field, "gemini-*{enter}");
    expect(set).toHaveBeenLastCalledWith({
      ...settings,
      aliases: [...aliases, { name: "gemini-*", model: null }],
    });
  });
});

describe("texts for other programs", () => {
  it.each(snippets())(
    "of $name name the server and the model, and the token only where it is needed",
    (snippet) => {
      const address = "http://localhost:1234";
      const filled = { address, model: "org/model", context: 262_144, needsToken: true };
      const text = snippet.text(filled);
      expect(text).toContain("http://localhost:1234");
      if (snippet.name !== "Open WebUI") expect(text).toContain("org/model");
      expect(snippet.text({ ...filled, needsToken: false })).not.toContain(TOKEN_SHOWN);
    },
  );

  it("tells Zed the loaded model’s context", async () => {
    tell(ON);
    render(<LocalApiPage />);
    const place = snippets().findIndex(({ name }) => name === "Zed");
    await userEvent.selectOptions(screen.getByTestId("snippet-program"), String(place));
    const told = () => {
      const servers = JSON.parse(screen.getByTestId("snippet").textContent).language_models;
      return servers.openai_compatible.Foretoken.available_models[0].max_tokens;
    };
    expect(told(), "while none is loaded").toBe(32_768);
    const model = modelInfo("/owl", { context_length: 262_144 });
    dispatch({
      kind: "app",
      event: { type: "engine", engine: { state: "ready", model, device: "metal", in_memory: true } },
    });
    await waitFor(() => expect(told()).toBe(262_144));
  });
});
