// Asks the local server what programs ask, with OpenAI's package for Node, and checks what that makes of the answers.
//
// Called with the port, in front of the engine that does as each question says; one reply is written there at a time.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const { OpenAI, APIUserAbortError, BadRequestError, InternalServerError, NotFoundError } = createRequire(
  `${process.env.FORETOKEN_CLIENTS}/`,
)("openai");

// The status of every answer that came: whoever tries again is seen.
const statuses = [];
const counted = async (...asked) => {
  const answer = await fetch(...asked);
  statuses.push(answer.status);
  return answer;
};
const client = new OpenAI({ baseURL: `http://localhost:${process.argv[2]}/v1`, apiKey: "none", fetch: counted });

const model = "default";
const question = (script) => ({ role: "user", content: JSON.stringify(script) });
const asked = { model, messages: [question({ think: ["H", "m"], say: ["Hello", ", ", "you"] })], seed: 7 };

const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const call = (city) =>
  `<tool_call>\n<function=weather>\n<parameter=city>\n${city}\n</parameter>\n</function>\n</tool_call>`;
const joined = (chunks, key) => chunks.map((chunk) => chunk.choices[0]?.delta[key] ?? "").join("");

// An answer is the same whole, in pieces, and gathered by the package.
async function chats() {
  const whole = await client.chat.completions.create(asked);
  const { message, finish_reason } = whole.choices[0];
  assert.equal(message.content, "Hello, you");
  assert.equal(finish_reason, "stop");
  assert.equal(whole.usage.completion_tokens, 5);
  assert.equal(whole.usage.completion_tokens_details.reasoning_tokens, 2);

  const chunks = [];
  for await (const chunk of await client.chat.completions.create({ ...asked, stream: true })) chunks.push(chunk);
  assert.equal(joined(chunks, "content"), message.content);
  // Programs read one of the two.
  for (const key of ["reasoning_content", "reasoning"]) {
    assert.equal(message[key], "Hm");
    assert.equal(joined(chunks, key), "Hm");
  }
  // Many programs look at the first choice of every chunk.
  assert.ok(chunks.every((chunk) => chunk.choices.length === 1 && chunk.usage == null));

  const counting = { ...asked, stream: true, stream_options: { include_usage: true } };
  const last = [];
  for await (const chunk of await client.chat.completions.create(counting)) last.push(chunk);
  assert.deepEqual(last.at(-1).choices, []);
  assert.deepEqual(last.at(-1).usage, whole.usage);
  assert.ok(last.slice(0, -1).every((chunk) => chunk.usage === null));

  const stream = client.chat.completions.stream(counting);
  let said = "";
  stream.on("content", (piece) => {
    said += piece;
  });
  const gathered = await stream.finalChatCompletion();
  assert.equal(said, message.content);
  assert.equal(gathered.choices[0].message.content, message.content);
  assert.deepEqual(await stream.totalUsage(), whole.usage);

  for (const [effort, thinks] of Object.entries({ none: false, minimal: false, low: true, xhigh: true, max: true })) {
    const answer = await client.chat.completions.create({ ...asked, reasoning_effort: effort });
    assert.equal(answer.choices[0].message.reasoning_content, thinks ? "Hm" : undefined, effort);
    assert.equal(answer.choices[0].message.content, "Hello, you");
    assert.equal(answer.usage.completion_tokens_details.reasoning_tokens, thinks ? 2 : 0);
  }
}

// Two calls beside each other, and text before them.
async function calls() {
  const say = [..."I look.\n\n", ...call("Rome"), "\n", ...call("Oslo")];
  const tools = [{ type: "function", function: { name: "weather", parameters } }];
  const body = { model, messages: [question({ say })], tools };
  const whole = (await client.chat.completions.create(body)).choices[0];
  assert.equal(whole.finish_reason, "tool_calls");
  assert.equal(whole.message.content, "I look.");
  const cities = (message) => message.tool_calls.map((one) => JSON.parse(one.function.arguments).city);
  assert.deepEqual(cities(whole.message), ["Rome", "Oslo"]);
  const [first, second] = whole.message.tool_calls;
  assert.ok(first.id && second.id && first.id !== second.id);

  const stream = client.chat.completions.stream(body);
  let pieces = 0;
  stream.on("tool_calls.function.arguments.delta", () => {
    pieces += 1;
  });
  const streamed = (await stream.finalChatCompletion()).choices[0];
  assert.deepEqual(cities(streamed.message), ["Rome", "Oslo"]);
  assert.equal(streamed.message.content, "I look.");
  assert.ok(pieces > 8, "arguments come as they are written");

  const results = whole.message.tool_calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "21" }));
  const turns = [...body.messages, whole.message, ...results.reverse(), question({ say: ["Warm."] })];
  const after = await client.chat.completions.create({ ...body, messages: turns });
  assert.equal(after.choices[0].message.content, "Warm.");
}

// The package calls the functions itself, round by round, until there are no more calls.
async function loops() {
  const script = { say: [...call("Rome")], then: [{ say: [...`Now.\n\n${call("Oslo")}`] }, { say: ["21", " and 3"] }] };
  for (const stream of [false, true]) {
    const cities = [];
    const weather = ({ city }) => {
      cities.push(city);
      return `${city}: ${city === "Rome" ? 21 : 3}`;
    };
    const tool = { name: "weather", function: weather, parse: JSON.parse, parameters };
    const tools = [{ type: "function", function: tool }];
    const runner = client.chat.completions.runTools({ model, messages: [question(script)], tools, stream });
    assert.equal(await runner.finalContent(), "21 and 3");
    assert.deepEqual(cities, ["Rome", "Oslo"]);
    const roles = runner.messages.map(({ role }) => role).join(" ");
    assert.equal(roles, "user assistant tool assistant tool assistant");
  }
}

async function responses() {
  const body = { model, input: JSON.stringify({ think: ["Hm"], say: ["Hello", ", ", "you"] }) };
  const whole = await client.responses.create(body);
  assert.equal(whole.output_text, "Hello, you");
  assert.equal(whole.status, "completed");
  assert.deepEqual(
    whole.output.map(({ type }) => type),
    ["reasoning", "message"],
  );
  const stream = client.responses.stream(body);
  let said = "";
  stream.on("response.output_text.delta", ({ delta }) => {
    said += delta;
  });
  const gathered = await stream.finalResponse();
  assert.equal(said, whole.output_text);
  assert.equal(gathered.output_text, whole.output_text);
  assert.deepEqual(gathered.usage, whole.usage);

  const tools = [{ type: "function", name: "weather", strict: false, parameters }];
  const first = { role: "user", content: JSON.stringify({ say: [...call("Rome")], then: [{ say: ["21"] }] }) };
  const called = await client.responses.stream({ model, input: [first], tools }).finalResponse();
  const [use] = called.output;
  assert.equal(use.type, "function_call");
  assert.deepEqual(JSON.parse(use.arguments), { city: "Rome" });
  const result = { type: "function_call_output", call_id: use.call_id, output: "21" };
  const answered = await client.responses.create({ model, input: [first, ...called.output, result], tools });
  assert.equal(answered.output_text, "21");

  // A call that is cut is none: what there is of it is text.
  const cut = client.responses.stream({ model, input: [first], tools, max_output_tokens: 30 });
  const short = await cut.finalResponse();
  assert.equal(short.status, "incomplete");
  assert.equal(short.output_text, call("Rome").slice(0, 30));

  const before = { ...body, previous_response_id: "resp_1" };
  await assert.rejects(client.responses.create(before), (error) => error.code === "not_stored");
}

// What can never succeed is asked once, and what may succeed later is asked again.
async function errors() {
  for (const [wanted, change, code] of [
    [NotFoundError, { model: "other" }, "model_not_found"],
    [BadRequestError, { temperature: 9 }, "invalid_value"],
    [BadRequestError, { messages: [question({ prompt_tokens: 2000 })] }, "context_length_exceeded"],
    [InternalServerError, { messages: [question({ fail: "mlx_failed" })] }, "internal"],
  ]) {
    for (const stream of [false, true]) {
      statuses.length = 0;
      await assert.rejects(client.chat.completions.create({ ...asked, ...change, stream }), (error) => {
        assert.ok(error instanceof wanted, `${error}`);
        assert.equal(error.code, code);
        assert.match(error.requestID, /^req_/);
        return true;
      });
      assert.equal(statuses.length, 1, code);
    }
  }
  // More than may wait: some are told to come again, do so by themselves, and are answered.
  statuses.length = 0;
  const patient = { maxRetries: 5 };
  const ask = (script) => client.chat.completions.create({ model, messages: [question(script)] }, patient);
  const many = Array.from({ length: 40 }, (_, index) => ask({ say: ["a"], prefill_ms: index === 0 ? 1500 : 0 }));
  for (const answer of await Promise.all(many)) assert.equal(answer.choices[0].message.content, "a");
  assert.ok(statuses.includes(429), `${statuses}`);
  assert.equal(statuses.filter((status) => status === 200).length, 40);
}

// A free-form tool, whole and in pieces, and the round behind it.
async function customs() {
  const text = 'say "hi"\n\\ é';
  const say = [...`<tool_call>\n<function=edit>\n<parameter=input>\n${text}\n</parameter>\n</function>\n</tool_call>`];
  const tools = [{ type: "custom", custom: { name: "edit" } }];
  const body = { model, messages: [question({ say })], tools };
  const { message, finish_reason } = (await client.chat.completions.create(body)).choices[0];
  assert.equal(finish_reason, "tool_calls");
  assert.deepEqual(message.tool_calls[0].custom, { name: "edit", input: text });
  const deltas = [];
  for await (const chunk of await client.chat.completions.create({ ...body, stream: true }))
    deltas.push(...(chunk.choices[0].delta.tool_calls ?? []));
  assert.equal(deltas[0].type, "custom");
  assert.equal(deltas.map((delta) => delta.custom.input).join(""), text);
  const result = { role: "tool", tool_call_id: message.tool_calls[0].id, content: "edited" };
  const messages = [...body.messages, message, result, question({ say: ["Done."] })];
  assert.equal((await client.chat.completions.create({ ...body, messages })).choices[0].message.content, "Done.");
}

// Whoever stops in the middle frees the only place.
async function leaving() {
  const endless = { model, messages: [question({ say: ["a"], times: 100_000, token_ms: 5 })] };
  const cancelled = async () => {
    const answer = await client.chat.completions.create({ model, messages: [question({ count_cancelled: true })] });
    return Number(answer.choices[0].message.content);
  };
  const before = await cancelled();
  const begun = Date.now();
  for await (const chunk of await client.chat.completions.create({ ...endless, stream: true })) {
    if (chunk.choices[0].delta.content) break;
  }
  assert.equal(await cancelled(), before + 1);
  const stream = client.chat.completions.stream(endless);
  stream.once("content", () => stream.abort());
  await assert.rejects(stream.done(), APIUserAbortError);
  assert.equal(await cancelled(), before + 2);
  const whole = client.chat.completions.create(endless, { signal: AbortSignal.timeout(300) });
  await assert.rejects(whole, APIUserAbortError);
  assert.equal(await cancelled(), before + 3);
  assert.ok(Date.now() - begun < 20_000, "what was left would take minutes");
}

for (const part of [chats, calls, customs, loops, responses, errors, leaving]) await part();
const listed = [];
for await (const one of client.models.list()) listed.push(one.id);
assert.equal((await client.models.retrieve(listed[0])).id, listed[0]);
const text = await client.completions.create({ model, prompt: JSON.stringify({ say: ["Once", " more"] }) });
assert.equal(text.choices[0].text, "Once more");
