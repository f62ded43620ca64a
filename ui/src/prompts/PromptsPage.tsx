import { useState } from "react";
import type { Prompt } from "../bridge/bindings";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { Page } from "../settings/Page";
import { Group, Row } from "../settings/Row";
import { useStore } from "../state/store";
import { exportPrompts, importPrompts, setPrompts } from "./actions";
import { examples, summaryOf } from "./text";

/** A prompt that is being written; `at` is its place, or null for a new one. */
interface Edited {
  at: number | null;
  prompt: Prompt;
}

const EMPTY: Prompt = { name: "", description: "", text: "" };

/** The person's prompts: added, changed, deleted, and moved between files. */
export function PromptsPage() {
  const prompts = useStore((state) => state.prompts);
  const [edited, setEdited] = useState<Edited | null>(null);
  const [deleted, setDeleted] = useState<{ at: number; prompt: Prompt } | null>(null);
  const save = async ({ at, prompt }: Edited) => {
    const next = at === null ? [...prompts, prompt] : prompts.with(at, prompt);
    if (await setPrompts(next)) setEdited(null);
  };
  const remove = async (at: number, prompt: Prompt) => {
    if (!(await setPrompts(prompts.toSpliced(at, 1)))) return;
    setDeleted({ at, prompt });
    setEdited((open) => (open?.at != null && open.at > at ? { ...open, at: open.at - 1 } : open));
  };
  const bringBack = async () => {
    if (!deleted || !(await setPrompts(prompts.toSpliced(deleted.at, 0, deleted.prompt)))) return;
    setDeleted(null);
    setEdited((open) => (open?.at != null && open.at >= deleted.at ? { ...open, at: open.at + 1 } : open));
  };
  return (
    <Page title={t("prompts-page")} testId="settings-prompts">
      <p className="part-note">{t("prompts-page.note")}</p>
      {deleted && (
        <p className="part-note" role="status" data-testid="prompt-deleted">
          {t("prompts-deleted", { name: deleted.prompt.name })}{" "}
          <button type="button" className="word-button" data-testid="restore-prompt" onClick={bringBack}>
            {t("prompts-deleted.undo")}
          </button>
        </p>
      )}
      {prompts.length === 0 && (
        <Group>
          <Row name={t("prompts-none")} words={t("prompts-none.words")}>
            <button
              type="button"
              className="button"
              data-testid="add-examples"
              onClick={() => setPrompts(examples())}
            >
              {t("prompts-add-examples")}
            </button>
          </Row>
        </Group>
      )}
      {prompts.length > 0 && (
        <Group>
          {prompts.map((prompt, at) =>
            edited?.at === at ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: a prompt is its place
              <PromptForm key={at} edited={edited} onChange={setEdited} onSave={save} />
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: a prompt is its place
              <Row key={at} name={prompt.name} words={summaryOf(prompt)}>
                <button
                  type="button"
                  className="quiet-button"
                  aria-label={t("prompts-edit.label", { name: prompt.name })}
                  data-testid="edit-prompt"
                  onClick={() => setEdited({ at, prompt })}
                >
                  {t("prompts-edit")}
                </button>
                <button
                  type="button"
                  className="quiet-button"
                  aria-label={t("prompts-delete.label", { name: prompt.name })}
                  data-testid="delete-prompt"
                  onClick={() => remove(at, prompt)}
                >
                  {t("prompts-delete")}
                </button>
              </Row>
            ),
          )}
        </Group>
      )}
      {edited?.at === null ? (
        <PromptForm edited={edited} onChange={setEdited} onSave={save} />
      ) : (
        <div className="prompt-form-foot">
          <button
            type="button"
            className="button"
            data-testid="add-prompt"
            onClick={() => setEdited({ at: null, prompt: EMPTY })}
          >
            {t("prompts-add")}
          </button>
          <span className="spring" />
          <button type="button" className="button" data-testid="import-prompts" onClick={importPrompts}>
            {t("prompts-import")}
          </button>
          <ActionButton
            className="button"
            data-testid="export-prompts"
            reason={prompts.length === 0 ? t("prompts-export.none") : null}
            onClick={exportPrompts}
          >
            {t("prompts-export")}
          </ActionButton>
        </div>
      )}
    </Page>
  );
}

interface FormProps {
  edited: Edited;
  onChange: (edited: Edited | null) => void;
  onSave: (edited: Edited) => void;
}

function PromptForm({ edited, onChange, onSave }: FormProps) {
  const { prompt } = edited;
  const change = (part: Partial<Prompt>) => onChange({ ...edited, prompt: { ...prompt, ...part } });
  const reason =
    prompt.name.trim() === ""
      ? t("prompts-form.no-name")
      : prompt.text.trim() === ""
        ? t("prompts-form.no-text")
        : null;
  return (
    <form
      className="prompt-form"
      aria-label={t(edited.at === null ? "prompts-form.new" : "prompts-form")}
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === null) onSave({ ...edited, prompt: { ...prompt, name: prompt.name.trim() } });
      }}
    >
      <div className="field">
        <input
          type="text"
          // biome-ignore lint/a11y/noAutofocus: whoever opens the form writes in it
          autoFocus
          autoComplete="off"
          maxLength={80}
          value={prompt.name}
          placeholder={t("prompts-name")}
          aria-label={t("prompts-name")}
          data-testid="prompt-name"
          onChange={(event) => change({ name: event.target.value })}
        />
      </div>
      <div className="field">
        <input
          type="text"
          autoComplete="off"
          maxLength={200}
          value={prompt.description}
          placeholder={t("prompts-description.placeholder")}
          aria-label={t("prompts-description")}
          data-testid="prompt-description"
          onChange={(event) => change({ description: event.target.value })}
        />
      </div>
      <textarea
        value={prompt.text}
        placeholder={t("prompts-text.placeholder")}
        aria-label={t("prompts-text")}
        data-testid="prompt-text"
        onChange={(event) => change({ text: event.target.value })}
      />
      <div className="prompt-form-foot">
        <span className="spring" />
        <button type="button" className="button" onClick={() => onChange(null)}>
          {t("prompts-cancel")}
        </button>
        <ActionButton type="submit" className="button primary" data-testid="save-prompt" reason={reason}>
          {t("prompts-save")}
        </ActionButton>
      </div>
    </form>
  );
}
