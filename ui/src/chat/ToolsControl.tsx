import { useId, useState } from "react";
import { useShallow } from "zustand/react/shallow";
import type { ServerInfo } from "../bridge/bindings";
import { t } from "../language/text";
import { Icon } from "../primitives/icons";
import { PopoverButton } from "../primitives/PopoverButton";
import { openSettings } from "../settings/actions";
import { ownSource } from "../settings/ownTools";
import { standing } from "../settings/toolServers";
import { callsOf } from "../state/steps";
import { useModel, useStore } from "../state/store";
import { toolTexts } from "./context";
import { type Source, sourcesOf, switchSource } from "./tools";
import { useTokens } from "./useTokens";

/** Which tools the open chat may use. */
export function ToolsControl() {
  const [open, setOpen] = useState(false);
  const model = useModel();
  const chosen = useStore((state) => state.chatSettings.tools);
  const tools = useStore((state) => state.tools);
  const anew = useReadAnew(chosen);
  const sources = sourcesOf(tools, chosen);
  const own = sources.filter((source) => source.own !== null);
  const servers = sources.filter((source) => source.own === null);
  const reason = model !== null && !model.tools ? t("call-tools.untaught") : null;
  return (
    <PopoverButton
      label={
        <>
          <Icon name="wrench" />
          <span>
            <span className="chip-words">
              {chosen.length === 0 ? t("call-tools") : <strong>{t("call-tools")}</strong>}
            </span>
            {chosen.length > 0 && (
              <strong className="numbers" data-testid="tools-count">
                {" "}
                {chosen.length}
              </strong>
            )}
          </span>
        </>
      }
      title={t("call-tools")}
      testId="tools-control"
      popupTestId="tools-popover"
      popupClassName="tools"
      reason={reason}
      open={open}
      onOpenChange={setOpen}
    >
      <h2>{t("call-tools.title")}</h2>
      {own.map((source) => (
        <SourceSwitch key={source.id} source={source} />
      ))}
      <h3>{t("call-tools.servers")}</h3>
      {servers.length === 0 && <p className="popover-note">{t("call-tools.no-servers")}</p>}
      {servers.map((source) => (
        <SourceSwitch key={source.id} source={source} />
      ))}
      {anew && (
        <p className="popover-note" role="status" data-testid="tools-anew">
          {t("call-tools.anew")}
        </p>
      )}
      <Cost />
      <div className="popover-foot">
        <button
          type="button"
          className="quiet-button"
          data-testid="add-tools"
          onClick={() => {
            setOpen(false);
            openSettings("tools");
          }}
        >
          {t("call-tools.settings")}
        </button>
      </div>
    </PopoverButton>
  );
}

/** Whether the next message has the chat read anew: it has used tools, and they are others since its last message. */
function useReadAnew(chosen: string[]): boolean {
  const chat = useStore((state) => state.chat);
  const last = useStore((state) => state.messages.at(-1)?.id ?? null);
  const used = useStore(({ messages }) => messages.some(({ steps }) => callsOf(steps).length > 0));
  const place = `${chat} ${last}`;
  const [before, setBefore] = useState({ place, chosen });
  if (before.place !== place) setBefore({ place, chosen });
  return used && before.place === place && before.chosen.join() !== chosen.join();
}

/** How much of each prompt of the open chat its tools take; nothing until the model has counted that. */
function Cost() {
  const counted = useTokens(useStore(useShallow(toolTexts)));
  const known = counted.filter((tokens) => tokens !== undefined);
  if (known.length === 0 || known.length < counted.length) return null;
  const tokens = known.reduce((sum, tokens) => sum + tokens);
  return (
    <p className="popover-note numbers" data-testid="tools-cost">
      {t("call-tools.cost", { tokens })}
    </p>
  );
}

/** Switches a source on or off in the open chat. What has no tools to give yet can only be switched off. */
function SourceSwitch({ source }: { source: Source }) {
  const id = useId();
  const { name, words } = described(source);
  const stuck = source.lack !== null && !source.on;
  return (
    <button
      type="button"
      role="switch"
      className="switch-row tool-source"
      data-testid={`tool-source-${source.id}`}
      aria-checked={source.on}
      aria-disabled={stuck || undefined}
      aria-labelledby={`${id}-name`}
      aria-describedby={`${id}-words`}
      onClick={() => !stuck && switchSource(source.id, !source.on)}
    >
      <span className="tool-source-words">
        <span id={`${id}-name`}>{name}</span>
        <span id={`${id}-words`} className="soft">
          {words}
        </span>
      </span>
      <span className="switch" aria-hidden="true" />
    </button>
  );
}

function described({ id, own, server, lack }: Source): { name: string; words: string } {
  if (own !== null) {
    const { name, words } = ownSource(own);
    return { name, words: lack ?? words };
  }
  return server === null
    ? { name: id, words: t("call-tools.gone") }
    : { name: server.name, words: serverWords(server) };
}

/** How a server is, and how many tools it has where that is known. */
function serverWords(server: ServerInfo): string {
  const { enabled, status, tools } = server;
  if (!enabled) return t("call-tools.off");
  // It says the number itself while it runs.
  if (status.state === "running" || tools.length === 0) return standing(server);
  return t("call-tools.count", { state: standing(server), count: tools.length });
}
