import type { ReplyCall, ServerInfo } from "../bridge/bindings";
import { t } from "../language/text";
import { claimed } from "../settings/toolServers";
import { useStore } from "../state/store";
import { serverOf, toolOf } from "./callWords";
import { VisibleText } from "./VisibleText";

/** What a tool's server says of it, which nobody has checked, and what that server runs or reaches. */
export function CallOrigin({ call }: { call: ReplyCall }) {
  const tools = useStore((state) => state.tools);
  if (call.server === null) return null;
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

/** What a server runs, as it is started, or the address that it is reached by. */
function reached({ transport, program }: ServerInfo): string {
  if (transport.kind === "http") return transport.address;
  return [program ?? transport.command, ...transport.arguments.map(quoted)].join(" ");
}

/** One argument is seen to be one. */
const quoted = (argument: string): string =>
  /^[^\s"']+$/.test(argument) ? argument : JSON.stringify(argument);
