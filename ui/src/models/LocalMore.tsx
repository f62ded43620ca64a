import { useState } from "react";
import type { LocalModel } from "../bridge/bindings";
import { Icon } from "../primitives/icons";
import { MenuButton, type MenuEntry } from "../primitives/MenuButton";
import { SHOW_FOLDER } from "../primitives/platform";
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
    state.state === "ready" ? null : state.state === "offline" ? "It is offline" : "It is broken";
  const offline = state.state === "offline" ? "It is offline" : null;
  const keep = keepReason(origin, inUse);
  const entries: MenuEntry[] = [
    { name: "Details…", reason: null, onSelect: () => setOpen("details") },
    {
      name: "Convert…",
      reason: unusable ?? (isRaw(model) ? null : "It is converted already"),
      onSelect: () => setOpen("convert"),
    },
    {
      name: model.tuning ? "Measure again" : "Measure",
      reason: unusable ?? (model.mtp?.state === "present" ? null : "It has no MTP head to measure"),
      onSelect: () => tuneModel(path),
    },
    { name: SHOW_FOLDER, reason: offline, onSelect: () => reveal(path) },
    origin === "folder"
      ? { name: "Remove from the list", reason: keep, onSelect: () => forgetModel(path) }
      : { name: "Delete", reason: keep ?? offline, onSelect: () => deleteModel(path) },
  ];
  if (draft !== null && origin === "library")
    entries.push({
      name: "Delete with its draft model",
      reason: keep ?? offline,
      onSelect: () => deleteWithDraftModel(path, draft.path),
    });
  return (
    <>
      <MenuButton label={`More for ${name}`} testId="model-more" entries={entries}>
        <Icon name="more" />
      </MenuButton>
      <LocalDetails model={model} open={open === "details"} onClose={() => setOpen(null)} />
      <ConvertSheet model={model} open={open === "convert"} onClose={() => setOpen(null)} />
    </>
  );
}
