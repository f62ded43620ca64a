import type { ServerInfo } from "../bridge/bindings";
import { VisibleText } from "../chat/VisibleText";
import { t } from "../language/text";
import { Fact } from "../primitives/Fact";

/** What a server runs or reaches, in full; of variables and headers the names alone. */
export function ServerFacts({ server: { transport, program } }: { server: ServerInfo }) {
  if (transport.kind === "http")
    return (
      <dl className="facts server-facts" data-testid="server-facts">
        <Fact name={t("settings-server-fact.address")}>
          <Code text={transport.address} />
        </Fact>
        <Fact name={t("settings-server-fact.headers")}>
          <Names names={transport.headers} />
        </Fact>
      </dl>
    );
  return (
    <dl className="facts server-facts" data-testid="server-facts">
      <Fact name={t("settings-server-fact.command")}>
        <Code text={transport.command} />
      </Fact>
      <Fact name={t("settings-server-fact.arguments")}>
        <Arguments all={transport.arguments} />
      </Fact>
      <Fact name={t("settings-server-fact.program")}>
        {program === null ? (
          <span className="api-failed">{t("settings-server-fact.not-found")}</span>
        ) : (
          <Code text={program} />
        )}
      </Fact>
      <Fact name={t("settings-server-fact.variables")}>
        <Names names={transport.environment} />
      </Fact>
      <Fact name={t("settings-server-fact.folder")}>
        {transport.folder === null ? t("settings-server-fact.own-folder") : <Code text={transport.folder} />}
      </Fact>
    </dl>
  );
}

/** What a program reads, with nothing hidden in it or moved about. */
function Code({ text }: { text: string }) {
  return (
    <code className="path" dir="ltr">
      <VisibleText text={text} />
    </code>
  );
}

/** Each in a box of its own: where one ends and the next begins is seen. */
function Arguments({ all }: { all: string[] }) {
  if (all.length === 0) return t("settings-server-fact.none");
  return (
    <ol className="server-arguments">
      {all.map((argument, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an argument is its place
        <li key={at}>
          <Code text={argument} />
        </li>
      ))}
    </ol>
  );
}

function Names({ names }: { names: string[] }) {
  if (names.length === 0) return t("settings-server-fact.none");
  return (
    <>
      <ul className="server-names">
        {names.map((name) => (
          <li key={name}>
            <Code text={name} />
          </li>
        ))}
      </ul>
      <p className="setting-words">{t("settings-server-fact.values-kept")}</p>
    </>
  );
}
