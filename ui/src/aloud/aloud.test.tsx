// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Message } from "../bridge/bindings";
import { actionsNow } from "../palette/table";
import { useStore } from "../state/store";
import { followVoices, readReply, stopReading, toggleReading } from "./actions";
import { languageOf } from "./language";
import { ReadingBar } from "./ReadingBar";
import { sentencesOf } from "./sentences";

const initial = useStore.getInitialState();
const state = () => useStore.getState();

class Utterance extends EventTarget {
  voice: SpeechSynthesisVoice | null = null;
  lang = "";
  constructor(readonly text: string) {
    super();
  }
}

const voice = (lang: string, more: Partial<SpeechSynthesisVoice> = {}) =>
  ({ name: lang, lang, voiceURI: lang, localService: true, default: false, ...more }) as SpeechSynthesisVoice;

let voices: SpeechSynthesisVoice[] = [];
let said: Utterance[] = [];
const cancel = vi.fn();

beforeEach(() => {
  useStore.setState({ ...initial, opened: true, chat: 5 }, true);
  [voices, said] = [[voice("en-US"), voice("de-DE")], []];
  cancel.mockClear();
  vi.stubGlobal("SpeechSynthesisUtterance", Utterance);
  vi.stubGlobal("speechSynthesis", {
    getVoices: () => voices,
    speak: (utterance: Utterance) => said.push(utterance),
    cancel,
  });
});
afterEach(() => {
  cleanup();
  stopReading();
  vi.unstubAllGlobals();
});

/** The sentence that is said last comes to its end. */
const finish = () => act(() => said.at(-1)?.dispatchEvent(new Event("end")));
const texts = () => said.map(({ text }) => text);

describe("what is said of a reply", () => {
  it("is its words by sentences, without marks, code and formulas", () => {
    const reply = [
      "# Owls",
      "An **owl** hoots. It [sleeps](https://a.example) by day.",
      "```rust\nlet owl = 1;\n```",
      "$$x^2$$",
      "- one\n- two $y$ owls",
      "| bird | sound |\n| --- | --- |\n| owl | hoo |",
    ].join("\n\n");
    expect(sentencesOf(reply)).toEqual([
      "Owls",
      "An owl hoots.",
      "It sleeps by day.",
      "one",
      "two  owls",
      "bird, sound",
      "owl, hoo",
    ]);
  });

  it("is nothing where there is code alone", () => {
    expect(sentencesOf("```\nowl()\n```")).toEqual([]);
  });
});

describe("the language of a text", () => {
  it.each([
    ["en", "The owl is in the tree, and it hoots."],
    ["de", "Die Eule ist nicht auf dem Baum, und das ist gut."],
    ["fr", "Le hibou est dans les arbres et il chante."],
    ["es", "El búho es una de las aves que cantan por la noche."],
    ["ja", "ふくろうは夜に鳴きます。"],
    ["zh", "猫头鹰在夜里叫。"],
    ["ru", "Сова кричит ночью."],
    ["uk", "Сова кричить уночі, її чути здалеку."],
    ["ko", "부엉이는 밤에 운다."],
    ["ar", "البومة تنعق في الليل"],
  ])("%s is known by its letters or its words", (language, text) => {
    expect(languageOf(text, "pt-BR")).toBe(language);
  });

  it("is the person's own where it does not say", () => {
    expect(languageOf("Uhu!", "de-AT")).toBe("de");
  });
});

describe("reading aloud", () => {
  it("goes from sentence to sentence, in the language of the reply, and says where it is", () => {
    render(<ReadingBar />);
    act(() => readReply(2, "Die Eule ist wach. Das ist gut."));
    expect([texts(), said[0]?.voice?.lang]).toEqual([["Die Eule ist wach."], "de-DE"]);
    expect(screen.getByTestId("reading-aloud").textContent).toContain("1 of 2");
    finish();
    expect(screen.getByTestId("reading-sentence").textContent).toBe("Das ist gut.");
    finish();
    expect(state().reading).toBeNull();
  });

  it("pauses within a sentence, and goes on with it", () => {
    render(<ReadingBar />);
    act(() => readReply(2, "The owl is up. It is late."));
    fireEvent.click(screen.getByTestId("reading-pause"));
    expect(cancel).toHaveBeenCalled();
    // What was cut short says that it has ended.
    finish();
    expect([texts(), state().reading?.at]).toEqual([["The owl is up."], 0]);
    fireEvent.click(screen.getByTestId("reading-pause"));
    expect(texts()).toEqual(["The owl is up.", "The owl is up."]);
  });

  it("stops where another one is read, and when the chat is left", () => {
    render(<ReadingBar />);
    act(() => readReply(2, "The owl is up. It is late."));
    act(() => readReply(4, "The bell is in the tower."));
    expect(texts()).toEqual(["The owl is up.", "The bell is in the tower."]);
    expect(state().reading?.message).toBe(4);
    act(() => useStore.setState({ chat: 6 }));
    expect(state().reading).toBeNull();
  });

  it("takes the last reply, and stops by the same key", () => {
    const reply = { id: 2, role: "assistant", text: "The owl is up. It is late." } as Message;
    useStore.setState({ messages: [reply] });
    toggleReading();
    expect(state().reading?.message).toBe(2);
    toggleReading();
    expect(state().reading).toBeNull();
  });

  it("stops when its message is gone, and can be stopped from any screen", () => {
    followVoices();
    const reply = { id: 2, role: "assistant", text: "The owl is up. It is late." } as Message;
    useStore.setState({ messages: [reply], screen: "models" });
    readReply(reply.id, reply.text);
    expect(actionsNow(state()).some(({ id }) => id === "read_aloud")).toBe(true);
    useStore.setState({ messages: [] });
    expect(state().reading).toBeNull();
  });

  it("needs a voice of this machine", () => {
    voices = [voice("en-US", { localService: false })];
    followVoices();
    expect(state().hasVoice).toBe(false);
    readReply(2, "The owl is up. It is late.");
    expect([said, state().reading]).toEqual([[], null]);
    expect(state().note?.text).toContain("No voice of this machine speaks English.");
    voices = [voice("en-US")];
    followVoices();
    expect(state().hasVoice).toBe(true);
  });
});
