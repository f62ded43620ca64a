import { TOKEN_SHOWN } from "../bridge/bindings";
import { t } from "../language/text";

/** What is filled in. */
export interface Filled {
  /** Where the server is, without a path. */
  address: string;
  /** What programs call the model. */
  model: string;
  /** The model's longest context, in tokens; null while none is loaded. */
  context: number | null;
  /** Whether programs have to send the token. */
  needsToken: boolean;
}

/** How one program comes to use the model. */
export interface Snippet {
  name: string;
  /** Where the text goes, in a sentence. */
  place: string;
  text: (filled: Filled) => string;
}

/** The context that a program is told of where it has to be told one and no model is loaded, in tokens. */
const USUAL_CONTEXT = 32_768;

/** What is the same in every language: names of programs and what they read. */
const verbatim = String.raw;

const token = ({ needsToken }: Filled): string => (needsToken ? TOKEN_SHOWN : "none");

/** The programs that can use the model. The token stands in a text as the page shows it. */
export const snippets = (): readonly Snippet[] => [
  {
    name: verbatim`curl`,
    place: t("settings-snippet-place.terminal"),
    text: (filled) =>
      verbatim`curl ${filled.address}/v1/chat/completions \
${filled.needsToken ? `  -H "Authorization: Bearer ${TOKEN_SHOWN}" \\\n` : ""}  -H "Content-Type: application/json" \
  -d '{
    "model": "${filled.model}",
    "messages": [{"role": "user", "content": "Hello"}]
  }'`,
  },
  {
    name: t("settings-snippet-name.python", { library: "openai" }),
    place: verbatim`pip install openai`,
    text: (filled) => verbatim`from openai import OpenAI

client = OpenAI(base_url="${filled.address}/v1", api_key="${token(filled)}")
stream = client.chat.completions.create(
    model="${filled.model}",
    messages=[{"role": "user", "content": "Hello"}],
    stream=True,
)
for chunk in stream:
    print(chunk.choices[0].delta.content or "", end="", flush=True)`,
  },
  {
    name: t("settings-snippet-name.node", { library: "openai" }),
    place: verbatim`npm install openai`,
    text: (filled) => verbatim`import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${filled.address}/v1", apiKey: "${token(filled)}" });
const stream = await client.chat.completions.create({
  model: "${filled.model}",
  messages: [{ role: "user", content: "Hello" }],
  stream: true,
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0].delta.content ?? "");`,
  },
  {
    name: t("settings-snippet-name.python", { library: "anthropic" }),
    place: verbatim`pip install anthropic`,
    text: (filled) => verbatim`from anthropic import Anthropic

client = Anthropic(base_url="${filled.address}", api_key="${token(filled)}")
question = {"role": "user", "content": "Hello"}
with client.messages.stream(model="${filled.model}", max_tokens=1024, messages=[question]) as stream:
    for text in stream.text_stream:
        print(text, end="", flush=True)`,
  },
  {
    name: verbatim`Claude Code`,
    place: t("settings-snippet-place.own-terminal"),
    text: (filled) => verbatim`export ANTHROPIC_BASE_URL="${filled.address}"
export ANTHROPIC_AUTH_TOKEN="${token(filled)}"
export ANTHROPIC_MODEL="${filled.model}"
export ANTHROPIC_DEFAULT_OPUS_MODEL="${filled.model}"
export ANTHROPIC_DEFAULT_SONNET_MODEL="${filled.model}"
export ANTHROPIC_DEFAULT_HAIKU_MODEL="${filled.model}"
export CLAUDE_CODE_ATTRIBUTION_HEADER=0
claude`,
  },
  {
    name: verbatim`Codex`,
    place: t("settings-snippet-place.codex"),
    text: (filled) => verbatim`model = "${filled.model}"
model_provider = "foretoken"

[model_providers.foretoken]
name = "Foretoken"
base_url = "${filled.address}/v1"
wire_api = "responses"
${filled.needsToken ? 'env_key = "FORETOKEN_TOKEN"\n' : ""}stream_idle_timeout_ms = 1200000`,
  },
  {
    name: verbatim`Zed`,
    place: t("settings-snippet-place.zed"),
    text: (filled) => verbatim`{
  "language_models": {
    "openai_compatible": {
      "Foretoken": {
        "api_url": "${filled.address}/v1",
        "available_models": [{ "name": "${filled.model}", "max_tokens": ${filled.context ?? USUAL_CONTEXT} }]
      }
    }
  }
}`,
  },
  {
    name: verbatim`Continue`,
    place: t("settings-snippet-place.continue"),
    text: (filled) => verbatim`models:
  - name: Foretoken
    provider: openai
    model: ${filled.model}
    apiBase: ${filled.address}/v1
    apiKey: ${token(filled)}
    roles: [chat, edit, apply]`,
  },
  {
    name: verbatim`Open WebUI`,
    place: t("settings-snippet-place.own-terminal"),
    text: (filled) => verbatim`export OPENAI_API_BASE_URL="${filled.address}/v1"
export OPENAI_API_KEY="${token(filled)}"
open-webui serve`,
  },
  {
    name: verbatim`aider`,
    place: t("settings-snippet-place.terminal"),
    text: (filled) => verbatim`export OPENAI_API_BASE="${filled.address}/v1"
export OPENAI_API_KEY="${token(filled)}"
aider --model "openai/${filled.model}"`,
  },
  {
    name: verbatim`LangChain`,
    place: verbatim`pip install langchain-openai`,
    text: (filled) => verbatim`from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    base_url="${filled.address}/v1",
    api_key="${token(filled)}",
    model="${filled.model}",
    stream_usage=True,
)
for chunk in model.stream("Hello"):
    print(chunk.content, end="", flush=True)`,
  },
];
