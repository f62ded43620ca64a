import type { Message } from "../bridge/bindings";
import { useSpotlight } from "../frame/useSpotlight";
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
    <span className="versions" role="group" aria-label="Versions" data-testid="versions">
      <Step from={message.id} to={versions[at - 1]} name="earlier" />
      <span className="numbers">
        {at + 1} of {versions.length}
      </span>
      <Step from={message.id} to={versions[at + 1]} name="later" />
    </span>
  );
}

const WORDS = { earlier: "Earlier version", later: "Later version" };

function Step({ from, to, name }: { from: number; to: number | undefined; name: "earlier" | "later" }) {
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
      aria-label={WORDS[name]}
      data-testid={`version-${name}`}
      reason={to === undefined ? `There is no ${name} version.` : null}
      onClick={step}
    >
      <Icon name={name === "earlier" ? "left" : "right"} />
    </ActionButton>
  );
}
