// Asks the local server what programs ask, with Anthropic's package for Node, and checks what that makes of the
// answers.
//
// Called with the port, in front of the engine that does as each question says; one reply is written there at a time.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const load = createRequire(`${process.env.FORETOKEN_CLIENTS}/`);
const { Anthropic, APIUserAbortError, BadRequestError, NotFoundError } = load("@anthropic-ai/sdk");
const { betaTool } = load("@anthropic-ai/sdk/helpers/beta/json-schema");

// The status of every answer that came: whoever tries again is seen.
const statuses = [];
const counted = async (...asked) => {
  const answer = await fetch(...asked);
  statuses.push(answer.status);
  return answer;
};
const client = new Anthropic({ baseURL: `http://localhost:${process.argv[2]}`, apiKey: "none", fetch: counted });

const [model, max_tokens] = ["default", 999];
const question = (script) => ({ role: "user", content: JSON.stringify(script) });
const script = { think: ["H", "m"], say: ["Hello", ", ", "you"], prompt_tokens: 9, cached_tokens: 4 };
const asked = { model, max_tokens, messages: [question(script)] };

const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const call = (city) =>
  `<tool_call>\n<function=weather>\n<parameter=city>\n${city}\n</parameter>\n</function>\n</tool_call>`;

// A message is the same whole and gathered by the package, its thinking too.
async function messages() {
  const whole = await client.messages.create(asked);
  const [thinking, text] = whole.content;
  assert.equal(thinking.thinking, "Hm");
  assert.ok(thinking.signature);
  assert.deepEqual([text.type, text.text, whole.stop_reason], ["text", "Hello, you", "end_turn"]);
  assert.deepEqual([whole.usage.input_tokens, whole.usage.cache_read_input_tokens], [5, 4]);

  const stream = client.messages.stream(asked);
  const [thought, said, signatures] = [[], [], []];
  stream.on("thinking", (piece) => thought.push(piece));
  stream.on("text", (piece) => said.push(piece));
  stream.on("signature", (signature) => signatures.push(signature));
  const final = await stream.finalMessage();
  assert.deepEqual(final.content, whole.content);
  assert.deepEqual(final.usage, whole.usage);
  assert.deepEqual([thought.join(""), said.join("")], ["Hm", "Hello, you"]);
  assert.deepEqual(signatures, [thinking.signature]);

  // The thinking can be sent back, and left out.
  const turns = [...asked.messages, { role: "assistant", content: final.content }, question({ say: ["Again"] })];
  const again = await client.messages.create({ ...asked, messages: turns });
  assert.equal(again.content[0].text, "Again");
  const quiet = await client.messages.create({ ...asked, thinking: { type: "disabled" } });
  assert.deepEqual(
    quiet.content.map(({ type }) => type),
    ["text"],
  );
  const hidden = await client.messages.create({ ...asked, thinking: { type: "adaptive", display: "omitted" } });
  assert.deepEqual([hidden.content[0].type, hidden.content[0].thinking], ["thinking", ""]);
  assert.ok(hidden.content[0].signature);
}

// Two uses of a tool beside each other, then the answers to them.
async function uses() {
  const say = [..."I look.\n\n", ...call("Rome"), "\n", ...call("Oslo")];
  const tools = [
    { name: "weather", input_schema: schema },
    { type: "web_search_20250305", name: "web_search" },
  ];
  const body = { ...asked, messages: [question({ say })], tools };
  const stream = client.messages.stream(body);
  let pieces = 0;
  stream.on("inputJson", () => {
    pieces += 1;
  });
  const final = await stream.finalMessage();
  assert.equal(final.stop_reason, "tool_use");
  const [text, ...both] = final.content;
  assert.equal(text.text, "I look.");
  assert.deepEqual(
    both.map(({ name, input }) => [name, input.city]),
    [
      ["weather", "Rome"],
      ["weather", "Oslo"],
    ],
  );
  assert.ok(pieces > 8, "inputs come as they are written");
  const results = both.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "21" }));
  const next = { role: "user", content: [...results, { type: "text", text: JSON.stringify({ say: ["Warm."] }) }] };
  const turns = [...body.messages, { role: "assistant", content: final.content }, next];
  const after = await client.messages.create({ ...body, messages: turns });
  assert.equal(after.content[0].text, "Warm.");
}

// The package runs the tool itself, round by round, until it is used no more.
async function loops() {
  const rounds = { say: [...call("Rome")], then: [{ say: [...`Now.\n\n${call("Oslo")}`] }, { say: ["21", " and 3"] }] };
  for (const stream of [false, true]) {
    const cities = [];
    const weather = betaTool({
      name: "weather",
      description: "Tells the weather.",
      inputSchema: schema,
      run: ({ city }) => {
        cities.push(city);
        return `${city}: 21`;
      },
    });
    const body = { ...asked, messages: [question(rounds)], tools: [weather], stream };
    const last = await client.beta.messages.toolRunner(body).runUntilDone();
    assert.equal(last.content[0].text, "21 and 3");
    assert.deepEqual(cities, ["Rome", "Oslo"]);
  }
}

// What can never succeed is asked once, and what may succeed later is asked again.
async function errors() {
  for (const [wanted, change, type] of [
    [NotFoundError, { model: "other" }, "not_found_error"],
    [BadRequestError, { top_p: 9 }, "invalid_request_error"],
    [BadRequestError, { messages: [question({ prompt_tokens: 2000 })] }, "invalid_request_error"],
  ]) {
    for (const stream of [false, true]) {
      statuses.length = 0;
      await assert.rejects(client.messages.create({ ...asked, ...change, stream }), (error) => {
        assert.ok(error instanceof wanted, `${error}`);
        assert.equal(error.error.error.type, type);
        assert.match(error.requestID, /^req_/);
        return true;
      });
      assert.equal(statuses.length, 1, type);
    }
  }
  // More than may wait: some are told to come again, do so by themselves, and are answered.
  statuses.length = 0;
  const patient = { maxRetries: 5 };
  const ask = (one) => client.messages.create({ model, max_tokens, messages: [question(one)] }, patient);
  const many = Array.from({ length: 40 }, (_, index) => ask({ say: ["a"], prefill_ms: index === 0 ? 1500 : 0 }));
  for (const answer of await Promise.all(many)) assert.equal(answer.content[0].text, "a");
  assert.ok(statuses.includes(429), `${statuses}`);
  assert.equal(statuses.filter((status) => status === 200).length, 40);
}

// Whoever stops in the middle frees the only place.
async function leaving() {
  const cancelled = async () => {
    const answer = await client.messages.create({ model, max_tokens, messages: [question({ count_cancelled: true })] });
    return Number(answer.content[0].text);
  };
  const before = await cancelled();
  const endless = question({ say: ["a"], times: 100_000, token_ms: 5 });
  const stream = client.messages.stream({ model, max_tokens: 99_999, messages: [endless] });
  stream.once("text", () => stream.abort());
  await assert.rejects(stream.finalMessage(), APIUserAbortError);
  assert.equal(await cancelled(), before + 1);
}

for (const part of [messages, uses, loops, errors, leaving]) await part();
const number = await client.messages.countTokens({ model, messages: [{ role: "user", content: "one two" }] });
assert.equal(number.input_tokens, 2);
const listed = [];
for await (const one of client.models.list()) listed.push(one.id);
assert.equal((await client.models.retrieve(listed[0])).id, listed[0]);
