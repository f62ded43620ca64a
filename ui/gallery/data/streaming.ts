import type {
  BranchMessage,
  ChatSummary,
  LiveStats,
  Message,
  OpenedChat,
  ReplyEvent,
} from "../../src/bridge/bindings";
import { drawn, pass } from "../page";
import type { Answers } from "../shell";
import { opened, reply, runs } from "./chats";

export const LIVE: LiveStats = {
  tokens_per_second: 58,
  tokens_per_pass: 2.4,
  acceptance: 0.81,
  passes: [2, 1, 0, 2, 2, 1, 3, 0, 1, 2, 2, 1, 0, 2, 3, 1, 2, 2, 0, 1, 2, 2],
};

/** The reply at the end of a chat that the page listens to. */
export class Stream {
  readonly open: OpenedChat;
  readonly answers: Answers;
  readonly #reply: Message;
  #send: ((event: ReplyEvent) => void) | null = null;

  constructor(chat: ChatSummary, before: BranchMessage[]) {
    const last = before.at(-1)?.message.id ?? 0;
    const begun = reply(last + 1, last, "", { status: { state: "streaming" }, stats: null });
    this.#reply = begun.message;
    this.open = opened(chat, [...before, begun]);
    this.answers = {
      attach: (_, events) => {
        this.#send = (event) => events.onmessage(event);
        return this.#reply;
      },
    };
  }

  /** Lets something happen to it. */
  async tell(...events: ReplyEvent[]): Promise<void> {
    while (this.#send === null) await drawn();
    for (const event of events) this.#send(event);
    await drawn();
  }

  async think(text: string): Promise<void> {
    await this.tell({
      type: "text",
      thinking: text,
      answer: "",
      provenance: { thinking: runs(text), answer: [] },
    });
  }

  /** Writes a text; its last `fresh` characters come in pieces, at some 200 characters a second, as time goes by. */
  async write(text: string, fresh: number): Promise<void> {
    const all = runs(text);
    let at = 0;
    let piece = { text: "", runs: [] as typeof all };
    for (const run of all) {
      piece.text += text.slice(at, at + run[0]);
      piece.runs.push(run);
      at += run[0];
      if (at < text.length - fresh || (run[1] > 0 && at < text.length)) continue;
      await this.tell({
        type: "text",
        thinking: "",
        answer: piece.text,
        provenance: { thinking: [], answer: piece.runs },
      });
      await pass(piece.text.length * 18);
      piece = { text: "", runs: [] };
    }
  }
}
