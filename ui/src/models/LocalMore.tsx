import { useState } from "react";
import type { LocalModel } from "../bridge/bindings";
import { t } from "../language/text";
import { Icon } from "../primitives/icons";
import { MenuButton, type MenuEntry } from "../primitives/MenuButton";
import { useStore } from "../state/store";
import { deleteModel, deleteWithDraftModel, forgetModel, reveal, tuneModel } from "./actions";
import { ConvertSheet } from "./ConvertSheet";
import { deletedWith, NO_DRAFT_MODELS } from "./draftModels";
import { LocalDetails } from "./LocalDetails";
import { keepReason } from "./labels";
import { isRaw } from "./models";

interface Props {
  model: LocalModel;
  /** It is loaded and answers. */
  inUse: boolean;
}

/** What else can be done with a model on this machine. */
export function LocalMore({ model, inUse }: Props) {
  const { path, name, state, origin } = model;
  const [open, setOpen] = useState<"details" | "convert" | null>(null);
  const draft = deletedWith(
    useStore((state) => state.library?.draft_models ?? NO_DRAFT_MODELS),
    model,
  );
  const unusable =
    state.state === "ready" ? null : t(state.state === "offline" ? "models-is-offline" : "models-is-broken");
  const offline = state.state === "offline" ? t("models-is-offline") : null;
  const keep = keepReason(origin, inUse);
  const lend = useStore(({ macs }) => macs.paired.some(({ lends }) => lends));
  const entries: MenuEntry[] = [
    { name: t("models-details-open"), reason: null, onSelect: () => setOpen("details") },
    {
      name: t("models-convert"),
      reason: unusable ?? (isRaw(model) ? null : t("models-convert.done")),
      onSelect: () => setOpen("convert"),
    },
    {
      name: t(model.tuning ? "models-measure.again" : "models-measure"),
      reason: unusable ?? (model.mtp?.state === "present" ? null : t("models-measure.no-head")),
      onSelect: () => tuneModel(path),
    },
    { name: t("word-show-folder"), reason: offline, onSelect: () => reveal(path) },
    origin === "folder"
      ? { name: t("models-remove-from-list"), reason: keep, onSelect: () => forgetModel(path) }
      : { name: t("models-delete"), reason: keep ?? offline, onSelect: () => deleteModel(path) },
  ];
  // What other Macs could do for it stands among all that is known of it.
  if (lend && state.state === "ready" && origin !== "built_in")
    entries.splice(1, 0, { name: t("macs-outlook.open"), reason: null, onSelect: () => setOpen("details") });
  if (draft !== null && origin === "library")
    entries.push({
      name: t("models-delete-with-draft"),
      reason: keep ?? offline,
      onSelect: () => deleteWithDraftModel(path, draft.path),
    });
  return (
    <>
      <MenuButton label={t("models-more-for", { name })} testId="model-more" entries={entries}>
        <Icon name="more" />
      </MenuButton>
      <LocalDetails model={model} open={open === "details"} onClose={() => setOpen(null)} />
      <ConvertSheet model={model} open={open === "convert"} onClose={() => setOpen(null)} />
    </>
  );
}
