import { useState } from "react";
import type { Prompt } from "../bridge/bindings";
import { ActionButton } from "../primitives/ActionButton";
import { Page } from "../settings/Page";
import { Group, Row } from "../settings/Row";
import { useStore } from "../state/store";
import { exportPrompts, importPrompts, setPrompts } from "./actions";
import { EXAMPLES, summaryOf } from "./text";

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
    <Page title="Prompts" testId="settings-prompts">
      <p className="part-note">
        Type / at the beginning of a message to choose one. What stands in {"{{double braces}}"} is filled in
        there: Tab goes from one to the next.
      </p>
      {deleted && (
        <p className="part-note" role="status" data-testid="prompt-deleted">
          “{deleted.prompt.name}” is deleted.{" "}
          <button type="button" className="word-button" data-testid="restore-prompt" onClick={bringBack}>
            Undo
          </button>
        </p>
      )}
      {prompts.length === 0 && (
        <Group>
          <Row
            name="There are no prompts yet"
            words="Four to begin with: summarise, rewrite, translate, explain code"
          >
            <button
              type="button"
              className="button"
              data-testid="add-examples"
              onClick={() => setPrompts([...EXAMPLES])}
            >
              Add examples
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
                  aria-label={`Edit ${prompt.name}`}
                  data-testid="edit-prompt"
                  onClick={() => setEdited({ at, prompt })}
                >
                  Edit
                </button>
                <button
                  type="button"
                  className="quiet-button"
                  aria-label={`Delete ${prompt.name}`}
                  data-testid="delete-prompt"
                  onClick={() => remove(at, prompt)}
                >
                  Delete
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
            Add a prompt
          </button>
          <span className="spring" />
          <button type="button" className="button" data-testid="import-prompts" onClick={importPrompts}>
            Import…
          </button>
          <ActionButton
            className="button"
            data-testid="export-prompts"
            reason={prompts.length === 0 ? "There are no prompts to export." : null}
            onClick={exportPrompts}
          >
            Export…
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
      ? "The prompt has no name yet."
      : prompt.text.trim() === ""
        ? "The prompt has no text yet."
        : null;
  return (
    <form
      className="prompt-form"
      aria-label={edited.at === null ? "New prompt" : "Prompt"}
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
          placeholder="Name"
          aria-label="Name"
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
          placeholder="What it is for, if you like"
          aria-label="Description"
          data-testid="prompt-description"
          onChange={(event) => change({ description: event.target.value })}
        />
      </div>
      <textarea
        value={prompt.text}
        placeholder="Translate the text below into {{language}}."
        aria-label="Text"
        data-testid="prompt-text"
        onChange={(event) => change({ text: event.target.value })}
      />
      <div className="prompt-form-foot">
        <span className="spring" />
        <button type="button" className="button" onClick={() => onChange(null)}>
          Cancel
        </button>
        <ActionButton type="submit" className="button primary" data-testid="save-prompt" reason={reason}>
          Save
        </ActionButton>
      </div>
    </form>
  );
}
