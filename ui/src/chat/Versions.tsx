import type { Message } from "../bridge/bindings";
import { useSpotlight } from "../frame/useSpotlight";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { Icon } from "../primitives/icons";
import { setView, useStore } from "../state/store";
import { showVersion } from "./navigation";

/** Leads to what else was written in the place of a message, where there is something. */
export function Versions({ message }: { message: Message }) {
  const versions = useStore((state) => state.versions[message.id]);
  if (!versions || versions.length < 2) return null;
  const at = versions.indexOf(message.id);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for what is filled in
    <span className="versions" role="group" aria-label={t("reply-versions")} data-testid="versions">
      <Step from={message.id} to={versions[at - 1]} name="earlier" />
      <span className="numbers">{t("reply-versions.at", { at: at + 1, of: versions.length })}</span>
      <Step from={message.id} to={versions[at + 1]} name="later" />
    </span>
  );
}

function Step({ from, to, name }: { from: number; to: number | undefined; name: "earlier" | "later" }) {
  const earlier = name === "earlier";
  // The version that comes has buttons of its own; the focus goes to the one that was used.
  const button = useSpotlight<HTMLButtonElement>(`${name}:${from}`);
  const step = async () => {
    if (to === undefined || !(await showVersion(to))) return;
    setView({ spotlight: `${name}:${to}`, jump: { message: to, highlighted: false } });
  };
  return (
    <ActionButton
      ref={button}
      className="icon-button"
      aria-label={t(earlier ? "reply-versions.earlier" : "reply-versions.later")}
      data-testid={`version-${name}`}
      reason={to === undefined ? t(earlier ? "reply-versions.no-earlier" : "reply-versions.no-later") : null}
      onClick={step}
    >
      <Icon name={earlier ? "left" : "right"} />
    </ActionButton>
  );
}
