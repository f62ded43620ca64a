import type { ReplyCall, ServerInfo } from "../bridge/bindings";
import { t } from "../language/text";
import { claimed } from "../settings/toolServers";
import { useStore } from "../state/store";
import { serverOf, toolOf } from "./callWords";
import { foldersOf, hostOf, reachesFiles } from "./ownCalls";
import { VisibleText } from "./VisibleText";

interface Props {
  call: ReplyCall;
  /** The arguments that it would get. */
  json: string;
}

/** What a call reaches: for a server also what it says of its tool, which nobody has checked. */
export function CallOrigin({ call, json }: Props) {
  const tools = useStore((state) => state.tools);
  if (call.server === null) return <OwnOrigin call={call} json={json} />;
  const server = serverOf(call.server, tools);
  const tool = toolOf(call, tools);
  return (
    <div className="call-origin" data-testid="call-origin">
      {server === null ? (
        <p>{t("call-origin.gone")}</p>
      ) : (
        <p>
          {t(server.transport.kind === "http" ? "call-origin.address" : "call-origin.program")}{" "}
          <code>
            <VisibleText text={reached(server)} />
          </code>
        </p>
      )}
      {tool && (
        <p className={tool.claims.destroys === true ? "warned" : undefined}>
          {t("call-origin.claims", { claims: claimed(tool.claims) })}
        </p>
      )}
    </div>
  );
}

/** What a call of the app's own tools reaches. */
function OwnOrigin({ call, json }: Props) {
  const { folders, search } = useStore((state) => state.tools);
  if (reachesFiles(call)) {
    const reached = foldersOf(json, folders);
    return (
      <div className="call-origin" data-testid="call-origin">
        {reached.length === 0 && <p>{t("call-origin.no-folder")}</p>}
        {reached.map(({ name, path }) => (
          <p key={name}>
            {t("call-origin.folder")} <VisibleText text={name} />{" "}
            <code>
              <VisibleText text={path} />
            </code>
          </p>
        ))}
      </div>
    );
  }
  const address = call.tool === "read_page" ? hostOf(json) : call.tool === "search_web" ? search : undefined;
  if (address === undefined) return null;
  return (
    <div className="call-origin" data-testid="call-origin">
      {address ? (
        <p>
          {t("call-origin.address")}{" "}
          <code>
            <VisibleText text={address} />
          </code>
        </p>
      ) : (
        <p>{t("call-origin.no-address")}</p>
      )}
    </div>
  );
}

/** What a server runs, as it is started, or the address that it is reached by. */
function reached({ transport, program }: ServerInfo): string {
  if (transport.kind === "http") return transport.address;
  return [program ?? transport.command, ...transport.arguments.map(quoted)].join(" ");
}

/** One argument is seen to be one. */
const quoted = (argument: string): string =>
  /^[^\s"']+$/.test(argument) ? argument : JSON.stringify(argument);
