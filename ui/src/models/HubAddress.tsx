import { useState } from "react";
import type { HubAccess, HubSettings } from "../bridge/bindings";
import { ErrorNote } from "../frame/ErrorNote";
import { ActionButton } from "../primitives/ActionButton";
import { PopoverButton } from "../primitives/PopoverButton";
import { useStore } from "../state/store";
import { about, setHub } from "./actions";

type Part = keyof HubSettings;

const PARTS: Record<Part, { name: string; placeholder: string; note: string }> = {
  address: {
    name: "Address of the Hub",
    placeholder: "https://huggingface.co",
    note: "Of a mirror, for example. Searches and downloads go there, and your token too. Empty: the usual one.",
  },
  proxy: {
    name: "Proxy for the Hub",
    placeholder: "http://proxy.example.org:8080",
    note: "Searches and downloads go through it. Empty: as your system has it.",
  },
};

export const hubPartName = (part: Part): string => PARTS[part].name;

/** What counts now, and who said so. */
export function hubPartWords({ settings, endpoint_variable, proxy_variable }: HubAccess, part: Part): string {
  if (settings[part] !== "") return settings[part];
  if (part === "address")
    return endpoint_variable === null ? "huggingface.co" : `${endpoint_variable}, from HF_ENDPOINT`;
  return proxy_variable === null ? "As your system has it" : `The one in the variable ${proxy_variable}`;
}

/** Opens the field that a part of how the Hub is reached is typed into. */
export function HubAddressControl({ part }: { part: Part }) {
  const [open, setOpen] = useState(false);
  return (
    <PopoverButton
      label="Change…"
      title={PARTS[part].name}
      testId={`hub-${part}-control`}
      className="button"
      side="bottom"
      chevron={false}
      open={open}
      onOpenChange={setOpen}
    >
      <HubAddressForm part={part} onDone={() => setOpen(false)} />
    </PopoverButton>
  );
}

function HubAddressForm({ part, onDone }: { part: Part; onDone: () => void }) {
  const kept = useStore((state) => state.library?.hub.settings[part] ?? "");
  const [text, setText] = useState(kept);
  const [saving, setSaving] = useState(false);
  const error = useStore((state) =>
    state.libraryError?.about === about.hub(part) ? state.libraryError : null,
  );
  const { name, placeholder, note } = PARTS[part];
  const trimmed = text.trim();
  const reason = saving ? "It is being kept." : trimmed === kept ? "Nothing has changed." : null;

  const save = async () => {
    setSaving(true);
    const done = await setHub(part, trimmed);
    setSaving(false);
    if (done) onDone();
  };

  return (
    <form
      className="token-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === null) save();
      }}
    >
      <label htmlFor={`hub-${part}`}>{name}</label>
      <input
        id={`hub-${part}`}
        type="text"
        inputMode="url"
        autoComplete="off"
        spellCheck={false}
        value={text}
        placeholder={placeholder}
        data-testid={`hub-${part}`}
        onChange={(event) => setText(event.target.value)}
      />
      <p className="popover-note">{note}</p>
      {error && <ErrorNote error={error.report} testId={`hub-${part}-error`} />}
      <div className="popover-foot">
        <ActionButton type="submit" className="button" data-testid={`keep-hub-${part}`} reason={reason}>
          {trimmed === "" ? "Use the usual one" : "Use this address"}
        </ActionButton>
      </div>
    </form>
  );
}
