// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type {
  FieldKind,
  FormField,
  ServerAnswer,
  ServerQuestion,
  TextFormat,
  ToolsState,
} from "../bridge/bindings";
import { ShellError, shell } from "../bridge/bridge";
import { MAC } from "../primitives/platform";
import { useStore } from "../state/store";
import { ServerQuestions } from "./ServerQuestion";
import { toolsState } from "./samples";

const initial = useStore.getInitialState();

/** Each question is a new one. */
let last = 0;
let answered: [number, ServerAnswer][] = [];

const field = (name: string, kind: FieldKind, more: Partial<FormField> = {}): FormField => ({
  name,
  title: `The ${name}`,
  description: null,
  required: false,
  default: null,
  kind,
  ...more,
});
const text = (format: TextFormat | null = null): FieldKind => ({
  kind: "text",
  format,
  least: null,
  most: null,
});
const number = (whole: boolean, most: number | null = null): FieldKind => ({
  kind: "number",
  whole,
  least: null,
  most,
});
const choice = (several: boolean, least: number | null = null): FieldKind => ({
  kind: "choice",
  options: [
    { value: "s", title: "Small" },
    { value: "m", title: "Medium" },
    { value: "", title: "No matter" },
  ],
  several,
  least,
  most: null,
});

const question = (fields: FormField[], more: Partial<ServerQuestion> = {}): ServerQuestion => {
  last += 1;
  return { id: last, server: "files", message: "Tell me.", wants: { kind: "form", fields }, ...more };
};
const visit = (address: string): ServerQuestion => question([], { wants: { kind: "visit", address } });

const tell = (questions: ServerQuestion[], more: Partial<ToolsState> = {}) =>
  useStore.setState({ tools: toolsState({ ...more, questions }) });

beforeEach(() => {
  answered = [];
  useStore.setState({ ...initial, opened: true, chat: 5, tools: toolsState() }, true);
  vi.spyOn(shell, "answerServer").mockImplementation(async (id, answer) => {
    answered.push([id, answer]);
    return null;
  });
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

/** Draws what is asked. */
function appear(...questions: ServerQuestion[]): void {
  tell(questions);
  render(<ServerQuestions />);
}

/** Lets the time pass in which nothing answers. */
const read = () => vi.spyOn(performance, "now").mockReturnValue(performance.now() + 501);

/** Draws what is asked, and lets the person read it. */
function ask(...questions: ServerQuestion[]): void {
  appear(...questions);
  read();
}

const card = () => screen.getByTestId("server-question");
const send = () => screen.getByTestId("accept-server");
const settled = () => act(async () => {});
const fill = (name: string, value: string) =>
  fireEvent.change(screen.getByLabelText(new RegExp(name)), { target: { value } });
/** What was sent, as the shell reads it. */
const values = (): unknown => {
  const answer = answered.at(-1)?.[1];
  return answer?.answer === "accept" && answer.values !== null ? JSON.parse(answer.values) : answer;
};
const command = MAC ? { metaKey: true } : { ctrlKey: true };

describe("what a server asks", () => {
  it("is said in its words, with who asks", () => {
    ask(question([], { message: "**Which** <b>one</b>?\nSee https://example.org \u202e" }));
    expect(card().querySelector("h2")?.textContent).toBe("My files asks:");
    const message = screen.getByTestId("server-message");
    expect(message.textContent).toBe("**Which** <b>one</b>?\nSee https://example.org ⟨U+202E⟩");
    expect(message.querySelector("a, b, strong")).toBeNull();
    expect(screen.getByTestId("server-question-note").textContent).toBe(
      "This goes to My files as you write it. Never write a password here.",
    );
  });

  it("names a server that is gone as the app names it", () => {
    ask(question([], { server: "other" }));
    expect(card().querySelector("h2")?.textContent).toBe("other asks:");
  });

  it("is drawn one by one, the oldest first", () => {
    const [first, second] = [question([], { message: "First?" }), question([], { message: "Second?" })];
    ask(first, second);
    expect(screen.getAllByTestId("server-question")).toHaveLength(1);
    expect(screen.getByTestId("server-message").textContent).toBe("First?");
    expect(screen.getByTestId("server-question-place").textContent).toBe("1 of 2");
    act(() => tell([second]));
    expect(screen.getByTestId("server-message").textContent).toBe("Second?");
    expect(screen.queryByTestId("server-question-place")).toBeNull();
    act(() => tell([]));
    expect(screen.queryByTestId("server-question")).toBeNull();
  });

  it("is read out once, and takes no focus", () => {
    const writes = document.body.appendChild(document.createElement("input"));
    writes.focus();
    const asked = question([field("name", text())]);
    ask(asked);
    expect(screen.getByRole("alert").textContent).toBe("My files asks you something.");
    expect(document.activeElement).toBe(writes);
    cleanup();
    ask(asked);
    expect(screen.queryByRole("alert"), "it is drawn once more").toBeNull();
    writes.remove();
  });

  it("gives the focus to the composer where it had that and goes", async () => {
    const composer = document.body.appendChild(document.createElement("input"));
    composer.dataset.testid = "composer";
    ask(question([field("name", text())]));
    screen.getByLabelText("The name").focus();
    act(() => tell([]));
    await settled();
    expect(document.activeElement).toBe(composer);
    composer.remove();
  });
});

describe("a form of a server", () => {
  it("has a field for each kind, with what the server has filled in", () => {
    ask(
      question([
        field("name", text(), { default: '"Anna"', description: "As others\u202e call you." }),
        field("mail", text("email")),
        field("page", text("address")),
        field("day", text("date"), { default: '"2027-02-28"' }),
        field("hour", text("date_time"), { default: '"2027-02-28T09:30:00Z"' }),
        field("count", number(true), { default: "3" }),
        field("share", number(false)),
        field("sure", { kind: "switch" }, { default: "true" }),
        field("size", choice(false), { default: '"m"' }),
        field("extras", choice(true), { default: '["s",""]' }),
      ]),
    );
    const input = (name: string) => screen.getByLabelText<HTMLInputElement>(`The ${name}`);
    const kinds = ["name", "mail", "page", "day", "hour", "count", "share", "sure"].map(
      (name) => input(name).type,
    );
    expect(kinds).toEqual(["text", "email", "url", "date", "datetime-local", "text", "text", "checkbox"]);
    expect([input("name").value, input("day").value, input("count").value, input("share").value]).toEqual([
      "Anna",
      "2027-02-28",
      "3",
      "",
    ]);
    expect(new Date(input("hour").value).toISOString()).toBe("2027-02-28T09:30:00.000Z");
    expect([input("count").inputMode, input("share").inputMode]).toEqual(["numeric", "decimal"]);
    expect(input("sure").checked).toBe(true);
    const size = screen.getByLabelText<HTMLSelectElement>("The size");
    expect(size.selectedOptions[0]?.textContent).toBe("Medium");
    expect(screen.getByRole("group", { name: "The extras" })).toBeDefined();
    expect(["Small", "Medium", "No matter"].map((name) => box(name).checked)).toEqual([true, false, true]);
    const words = document.getElementById(`${input("name").id}-words`);
    expect(words?.textContent).toBe("As others⟨U+202E⟩ call you.");
    expect(input("name").getAttribute("aria-describedby")).toContain(words?.id);
  });

  it("sends what is filled in, each as its kind, and leaves out what is empty", async () => {
    const asked = question([
      field("name", text()),
      field("none", text()),
      field("blank", number(false)),
      field("hour", text("date_time")),
      field("count", number(true)),
      field("share", number(false)),
      field("sure", { kind: "switch" }),
      field("size", choice(false)),
      field("open", choice(false)),
      field("extras", choice(true)),
      field("others", choice(true)),
    ]);
    ask(asked);
    fill("The name", " Anna ");
    fill("The hour", "2027-02-28T09:30");
    fill("The count", "12");
    fill("The share", "1,5");
    const size = screen.getByLabelText<HTMLSelectElement>("The size");
    fireEvent.change(size, { target: { value: [...size.options].at(-1)?.value } });
    const extras = screen.getByRole("group", { name: "The extras" });
    for (const each of [...extras.querySelectorAll("input")].slice(0, 2).reverse()) fireEvent.click(each);
    fireEvent.click(send());
    await settled();
    expect(answered[0]?.[0]).toBe(asked.id);
    expect(values()).toEqual({
      name: " Anna ",
      hour: new Date(2027, 1, 28, 9, 30).toISOString(),
      count: 12,
      share: 1.5,
      sure: false,
      size: "",
      extras: ["s", "m"],
    });
  });

  it("may be sent as the server has filled it in", async () => {
    ask(
      question([
        field("hour", text("date_time"), { default: '"2027-02-28T09:30:15Z"' }),
        field("extras", choice(true), { default: '["m"]' }),
        field("__proto__", text(), { default: '"a"' }),
      ]),
    );
    fireEvent.click(send());
    await settled();
    expect(answered[0]?.[1]).toEqual({
      answer: "accept",
      values: '{"hour":"2027-02-28T09:30:15.000Z","extras":["m"],"__proto__":"a"}',
    });
  });

  it.each([
    ["a text", text(), () => fill("The thing", "a")],
    ["a number", number(false), () => fill("The thing", "1")],
    ["a choice", choice(false), () => fill("The thing", "0")],
    ["some of a choice", choice(true, 1), () => fireEvent.click(box("Small"))],
  ])("cannot be sent while %s is missing that must be there", async (_, kind, fillIn) => {
    ask(question([field("thing", kind, { required: true })]));
    expect(card().textContent).toContain("The thing · required");
    expect(send().title).toBe("“The thing” is still empty.");
    fireEvent.click(send());
    fireEvent.keyDown(card(), { key: "Enter", ...command });
    await settled();
    expect(answered).toEqual([]);
    fillIn();
    fireEvent.click(send());
    await settled();
    expect(answered).toHaveLength(1);
  });

  it("takes none of several options for an answer where none are enough", async () => {
    ask(question([field("extras", choice(true), { required: true })]));
    expect(card().textContent).not.toContain("required");
    fireEvent.click(send());
    await settled();
    expect(values()).toEqual({ extras: [] });
  });

  it.each([
    ["a number that is none", number(false), "much", "“The thing”: “much” is not a number."],
    ["a part of a whole number", number(true), "1.5", "“The thing”: Whole numbers only."],
    ["too large a number", number(true, 9), "10", "“The thing”: At most 9."],
  ])("cannot be sent with %s", async (_, kind, typed, reason) => {
    ask(question([field("thing", kind)]));
    fill("The thing", typed);
    expect(screen.getByLabelText("The thing").getAttribute("aria-invalid")).toBe("true");
    expect(send().title).toBe(reason);
    fireEvent.click(send());
    await settled();
    expect(answered).toEqual([]);
  });

  it("is not sent while a date is typed in part, which has no value yet", async () => {
    ask(question([field("day", text("date"))]));
    const day = screen.getByLabelText<HTMLInputElement>("The day");
    const validity = { badInput: true };
    const told = vi.fn(() => false);
    Object.defineProperty(day, "validity", { get: () => validity });
    Object.defineProperty(day, "reportValidity", { value: told });
    fireEvent.click(send());
    await settled();
    expect(answered).toEqual([]);
    expect(told).toHaveBeenCalledOnce();
    validity.badInput = false;
    fireEvent.click(send());
    await settled();
    expect(values()).toEqual({});
  });

  it("keeps what is filled in while the chat is left, and no longer than it stands", () => {
    const asked = question([field("name", text())]);
    ask(asked);
    fill("The name", "Anna");
    cleanup();
    ask(asked);
    expect(screen.getByLabelText<HTMLInputElement>("The name").value).toBe("Anna");
    act(() => tell([]));
    act(() => tell([asked]));
    expect(screen.getByLabelText<HTMLInputElement>("The name").value).toBe("");
  });
});

describe("an address that a server wants to have opened", () => {
  it("is shown in full with its site stressed, and opened by the shell", async () => {
    const asked = visit("https://ex\u0430mple.org/sign-in?to=https://example.org#x");
    ask(asked);
    const shown = screen.getByTestId("visited-address");
    expect(shown.textContent).toBe("https://xn--exmple-4nf.org/sign-in?to=https://example.org#x");
    expect(shown.querySelector("strong")?.textContent).toBe("xn--exmple-4nf.org");
    expect(card().textContent).toContain("It may imitate another site.");
    expect(card().querySelector("a")).toBeNull();
    expect(screen.queryByTestId("server-question-note"), "nothing is written here").toBeNull();
    expect(send().textContent).toContain("Open it");
    fireEvent.click(send());
    await settled();
    expect(answered).toEqual([[asked.id, { answer: "accept", values: null }]]);
  });

  it("is not opened where a name to sign in with could pass for its site", async () => {
    ask(visit("https://example.org@evil.example/a\u200b"));
    const shown = screen.getByTestId("visited-address");
    expect(shown.textContent).toBe("https://example.org@evil.example/a⟨U+200B⟩");
    expect(shown.querySelector("strong")).toBeNull();
    expect(send().title).toContain("It is not opened from here.");
    expect(card().textContent).toContain("It is not opened from here.");
    fireEvent.click(send());
    await settled();
    expect(answered).toEqual([]);
    fireEvent.click(screen.getByTestId("decline-server"));
    await settled();
    expect(values()).toEqual({ answer: "decline" });
  });
});

describe("the answer to a server", () => {
  it("may be no, whatever is filled in", async () => {
    const asked = question([field("name", text(), { required: true })]);
    ask(asked);
    fireEvent.click(screen.getByTestId("decline-server"));
    await settled();
    expect(answered).toEqual([[asked.id, { answer: "decline" }]]);
  });

  it("is given once", async () => {
    let arrive = () => {};
    vi.mocked(shell.answerServer).mockImplementation(
      (id, answer) =>
        new Promise((resolve) => {
          answered.push([id, answer]);
          arrive = () => resolve(null);
        }),
    );
    ask(question([]));
    fireEvent.click(send());
    expect(send().title).toBe("Your answer is on its way.");
    fireEvent.click(send());
    fireEvent.click(screen.getByTestId("decline-server"));
    arrive();
    await settled();
    expect(answered).toHaveLength(1);
  });

  it("is given by keys only where the card has the focus and was there for a moment", async () => {
    appear(question([field("name", text())]));
    fireEvent.keyDown(card(), { key: "Enter", ...command });
    await settled();
    expect(answered, "it has only just come").toEqual([]);
    read();
    fireEvent.keyDown(document.body, { key: "Enter", ...command });
    fireEvent.keyDown(card(), { key: "Enter" });
    fireEvent.keyDown(screen.getByLabelText("The name"), { key: "Enter" });
    fireEvent.keyDown(card(), { key: "Enter", repeat: true, ...command });
    await settled();
    expect(answered, "no other key, and from nowhere else").toEqual([]);
    fireEvent.keyDown(screen.getByLabelText("The name"), { key: "Enter", ...command });
    await settled();
    expect(answered, "from a field too").toHaveLength(1);
  });

  it("is not given by clicks that were meant for what stood there before", async () => {
    appear(question([]));
    fireEvent.click(send());
    fireEvent.click(screen.getByTestId("decline-server"));
    await settled();
    expect(answered).toEqual([]);
    const next = question([]);
    read();
    act(() => tell([next]));
    fireEvent.click(send());
    await settled();
    expect(answered, "nor is that to the next question").toEqual([]);
    read();
    fireEvent.click(send());
    await settled();
    expect(answered.map(([id]) => id)).toEqual([next.id]);
  });

  it("can be changed where the shell refuses it, which the card says", async () => {
    const refused = { code: "server_form_misfilled", message: "The name: a text.", hint: "Change it." };
    vi.mocked(shell.answerServer).mockRejectedValueOnce(new ShellError(refused));
    ask(question([field("name", text())]));
    fill("The name", "a");
    fireEvent.click(send());
    const told = await screen.findByTestId("server-question-error");
    expect(told.textContent).toContain("The name: a text.");
    expect(screen.getByLabelText<HTMLInputElement>("The name").value).toBe("a");
    expect(useStore.getState().actionError).toBeNull();
    fireEvent.click(send());
    await settled();
    expect(answered).toHaveLength(1);
    expect(screen.queryByTestId("server-question-error")).toBeNull();
  });

  it("that came too late, or opened nothing, is told of in the chat once the card is gone", async () => {
    const gone = { code: "server_question_gone", message: "Gone.", hint: "" };
    vi.mocked(shell.answerServer).mockImplementationOnce(async () => {
      act(() => tell([]));
      throw new ShellError(gone);
    });
    ask(question([]));
    fireEvent.click(send());
    await settled();
    expect(useStore.getState().actionError).toEqual(gone);
  });
});

/** A box of a choice. */
function box(name: string): HTMLInputElement {
  return screen.getByLabelText<HTMLInputElement>(name);
}
