import { useState } from "react";
import type { HubAccess, HubSettings } from "../bridge/bindings";
import { ErrorNote } from "../frame/ErrorNote";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { PopoverButton } from "../primitives/PopoverButton";
import { useStore } from "../state/store";
import { about, setHub } from "./actions";

type Part = keyof HubSettings;

/** Each part with what may be typed into it and what an empty one means. */
const PARTS = {
  address: { text: "models-hub-address", placeholder: "https://huggingface.co", keep: "models-hub-keep" },
  proxy: { text: "models-hub-proxy", placeholder: "http://proxy.example.org:8080", keep: "models-hub-keep" },
  cache: { text: "models-hub-cache", placeholder: "~/.cache/huggingface", keep: "models-hub-keep-folder" },
} as const;

export const HUB_PARTS = Object.keys(PARTS) as Part[];

export const hubPartName = (part: Part): string => t(PARTS[part].text);

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
      <label htmlFor={`hub-${part}`}>{hubPartName(part)}</label>
      <input
        id={`hub-${part}`}
        type="text"
        inputMode={part === "cache" ? "text" : "url"}
        autoComplete="off"
        spellCheck={false}
        value={text}
        placeholder={PARTS[part].placeholder}
        data-testid={`hub-${part}`}
        onChange={(event) => setText(event.target.value)}
      />
      <p className="popover-note">{t(`${PARTS[part].text}.note`)}</p>
      {error && <ErrorNote error={error.report} testId={`hub-${part}-error`} />}
      <div className="popover-foot">
        <ActionButton type="submit" className="button" data-testid={`keep-hub-${part}`} reason={reason}>
          {t(trimmed === "" ? `${PARTS[part].keep}.usual` : PARTS[part].keep)}
        </ActionButton>
      </div>
    </form>
  );
}
