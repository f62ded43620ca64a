import { useState } from "react";
import type { HubAccess, HubSettings } from "../bridge/bindings";
import { ErrorNote } from "../frame/ErrorNote";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { PopoverButton } from "../primitives/PopoverButton";
import { useStore } from "../state/store";
import { about, setHub } from "./actions";

type Part = keyof HubSettings;

export const HUB_PARTS: readonly Part[] = ["address", "proxy", "cache"];

interface PartTexts {
  name: string;
  /** What it is for, and what an empty one means. */
  note: string;
  placeholder: string;
  keep: string;
  keepUsual: string;
}

function textsOf(part: Part): PartTexts {
  if (part === "cache")
    return {
      name: t("models-hub-cache"),
      note: t("models-hub-cache.note"),
      placeholder: "~/.cache/huggingface",
      keep: t("models-hub-keep-folder"),
      keepUsual: t("models-hub-keep-folder.usual"),
    };
  const keep = { keep: t("models-hub-keep"), keepUsual: t("models-hub-keep.usual") };
  return part === "address"
    ? {
        name: t("models-hub-address"),
        note: t("models-hub-address.note"),
        placeholder: "https://huggingface.co",
        ...keep,
      }
    : {
        name: t("models-hub-proxy"),
        note: t("models-hub-proxy.note"),
        placeholder: "http://proxy.example.org:8080",
        ...keep,
      };
}

export const hubPartName = (part: Part): string => textsOf(part).name;

/** What counts now, and who said so. */
export function hubPartWords(access: HubAccess, part: Part): string {
  const { settings, endpoint_variable, proxy_variable, found_cache } = access;
  if (settings[part] !== "") return settings[part];
  if (part === "cache") return found_cache ?? t("models-hub-cache.none");
  if (part === "address")
    return endpoint_variable === null
      ? "huggingface.co"
      : t("models-hub-address.from-variable", { address: endpoint_variable });
  return proxy_variable === null
    ? t("models-hub-proxy.system")
    : t("models-hub-proxy.from-variable", { variable: proxy_variable });
}

/** Opens the field that a part of how the Hub is reached is typed into. */
export function HubAddressControl({ part }: { part: Part }) {
  const [open, setOpen] = useState(false);
  return (
    <PopoverButton
      label={t("models-hub-change")}
      title={hubPartName(part)}
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
  const texts = textsOf(part);
  const trimmed = text.trim();
  const reason = saving ? t("models-hub-keep.keeping") : trimmed === kept ? t("models-hub-keep.same") : null;

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
      <label htmlFor={`hub-${part}`}>{texts.name}</label>
      <input
        id={`hub-${part}`}
        type="text"
        inputMode={part === "cache" ? "text" : "url"}
        autoComplete="off"
        spellCheck={false}
        value={text}
        placeholder={texts.placeholder}
        data-testid={`hub-${part}`}
        onChange={(event) => setText(event.target.value)}
      />
      <p className="popover-note">{texts.note}</p>
      {error && <ErrorNote error={error.report} testId={`hub-${part}-error`} />}
      <div className="popover-foot">
        <ActionButton type="submit" className="button" data-testid={`keep-hub-${part}`} reason={reason}>
          {trimmed === "" ? texts.keepUsual : texts.keep}
        </ActionButton>
      </div>
    </form>
  );
}
