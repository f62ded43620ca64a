// Waits for an answer whose prompt is read for longer than a connection may be silent, with OpenAI's package for Node.
//
// Called with the port, in front of the engine that does as each question says. The clocks are scaled: Node gives up a
// connection that was silent for five minutes, and the server says something after each five seconds.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const { OpenAI } = createRequire(`${process.env.FORETOKEN_CLIENTS}/`)("openai");

const READING = 16_000;
const PATIENCE = 8_000;
let pieces = 0;

// Like Node's own fetch, with another patience.
const impatient = async (...asked) => {
  const answer = await fetch(...asked);
  const reader = answer.body.getReader();
  const body = new ReadableStream({
    async pull(controller) {
      let timer;
      const silence = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error("the connection is silent")), PATIENCE);
      });
      try {
        const { done, value } = await Promise.race([reader.read(), silence]);
        if (done) return controller.close();
        pieces += 1;
        controller.enqueue(value);
      } finally {
        clearTimeout(timer);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(body, { status: answer.status, headers: answer.headers });
};

const baseURL = `http://localhost:${process.argv[2]}/v1`;
const client = new OpenAI({ baseURL, apiKey: "none", fetch: impatient, maxRetries: 0 });
const content = JSON.stringify({ say: ["At", " last"], prefill_ms: READING });
const asked = { model: "default", messages: [{ role: "user", content }], stream: true };
let said = "";
for await (const chunk of await client.chat.completions.create(asked)) said += chunk.choices[0].delta.content ?? "";
assert.equal(said, "At last");
assert.ok(pieces > 3, `${pieces} pieces`);
