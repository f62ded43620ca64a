import { createElement } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import type { Message, OpenedChat } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { isSummary } from "../chat/view";
import { t } from "../language/text";
import { formulasReady } from "../markdown/Formula";
import { portable } from "./portable";
import { Turn } from "./Turn";

/** What of a chat goes on paper besides what was said. */
interface Choice {
  pictures: boolean;
  thinking: boolean;
}

/** The branch of a chat that is shown, whole, as it is printed and written into a file. */
export async function paperOf(chat: OpenedChat, choice: Choice): Promise<HTMLElement> {
  const messages = chat.messages
    .map(({ message }) => message)
    .filter((message) => message.role !== "system" || isSummary(message));
  const views = choice.pictures ? await viewsOf(messages) : new Map<string, string>();
  await formulasReady();
  const paper = document.createElement("article");
  paper.className = "paper";
  paper.append(textElement("h1", chat.chat.title || t("paper-unnamed")));
  const always = chat.settings.system_prompt.trim();
  if (always !== "") paper.append(section(t("paper-instructions"), always));
  for (const message of messages) {
    paper.append(turn(message, views, choice.thinking));
    // A long chat takes its time, and the window goes on meanwhile.
    await new Promise((resolve) => setTimeout(resolve));
  }
  return paper;
}

/** A message as the page draws it, made portable. */
function turn(message: Message, views: ReadonlyMap<string, string>, thinking: boolean): DocumentFragment {
  const place = document.createElement("div");
  const root = createRoot(place);
  flushSync(() => root.render(createElement(Turn, { message, views, thinking })));
  const drawn = portable(place, 1);
  root.unmount();
  return drawn;
}

function section(speaker: string, text: string): Element {
  const element = document.createElement("section");
  element.className = "turn";
  const words = textElement("p", text);
  words.className = "own";
  const said = textElement("p", speaker);
  said.className = "speaker";
  element.append(said, words);
  const made = document.createElement("div");
  made.append(element);
  return portable(made).firstElementChild as Element;
}

function textElement(tag: string, text: string): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}

/** What people see of the pictures of messages. Those whose files are gone are left out. */
async function viewsOf(messages: Message[]): Promise<Map<string, string>> {
  const views = new Map<string, string>();
  for (const { hash, missing } of messages.flatMap(({ pictures }) => pictures)) {
    if (!missing && !views.has(hash)) views.set(hash, await shell.pictureView(hash));
  }
  return views;
}
