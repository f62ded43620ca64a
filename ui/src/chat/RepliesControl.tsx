import { type ReactNode, useId, useState } from "react";
import { ActionButton } from "../primitives/ActionButton";
import { Icon } from "../primitives/icons";
import { PopoverButton } from "../primitives/PopoverButton";
import { radios } from "../primitives/radios";
import { setView, useGeneration, useModel, useStore } from "../state/store";
import { addPreset, changePreset, choosePreset, deletePreset } from "./presets";
import { useRepliesLabel } from "./repliesLabel";
import { SamplingForm } from "./SamplingForm";
import { changeChatSettings, changeSettings } from "./settings";
import { ThinkingChoice } from "./ThinkingChoice";

/** How replies are written in the open chat: the one place for all of it. */
export function RepliesControl() {
  const open = useStore((state) => state.repliesOpen);
  const generation = useGeneration();
  const model = useModel();
  return (
    <PopoverButton
      label={
        <>
          <Icon name="sliders" />
          <strong className="chip-words">{useRepliesLabel()}</strong>
        </>
      }
      title="Replies in this chat"
      testId="sampling-control"
      popupClassName="replies"
      open={open}
      onOpenChange={(repliesOpen) => setView({ repliesOpen })}
    >
      <PresetChoice />
      <Part title="Choice of words" term="sampling">
        <SamplingForm generation={generation} change={changeSettings} />
      </Part>
      <Part title="Thinking">
        <ThinkingChoice
          thinking={generation.thinking}
          model={model}
          testId="thinking-control"
          change={changeSettings}
        />
      </Part>
      <SystemPrompt />
      <Scope />
      <KeepPreset />
    </PopoverButton>
  );
}

function Part({ title, term, children }: { title: string; term?: string; children: ReactNode }) {
  return (
    <section className="popover-part" aria-label={title}>
      <h3>
        {title} {term && <span className="term">{term}</span>}
      </h3>
      {children}
    </section>
  );
}

function PresetChoice() {
  const presets = useStore((state) => state.presets);
  const chosen = useStore((state) => state.chatSettings.preset);
  return (
    <div className="popover-title">
      <h2>Replies in this chat</h2>
      <div className="select-place">
        <select
          className="select"
          aria-label="Preset"
          data-testid="preset"
          value={chosen ?? ""}
          onChange={(event) => choosePreset(event.target.value === "" ? null : Number(event.target.value))}
        >
          <option value="">Standard</option>
          {presets.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
        <Icon name="down" />
      </div>
    </div>
  );
}

function SystemPrompt() {
  const id = useId();
  const prompt = useStore((state) => state.chatSettings.system_prompt);
  return (
    <Part title="What it should always know" term="system prompt">
      <textarea
        id={id}
        className="system-prompt"
        rows={3}
        value={prompt}
        placeholder="Who you are, what you like, how it should write"
        aria-label="System prompt"
        data-testid="system-prompt"
        onChange={(event) => changeChatSettings({ system_prompt: event.target.value })}
      />
    </Part>
  );
}

/** Whether the controls below the message are for this chat alone. */
function Scope() {
  const own = useStore((state) => state.chatSettings.generation !== null);
  const settings = useGeneration();
  const check = (index: number) => changeChatSettings({ generation: index === 0 ? null : settings });
  const { group, radio } = radios("What the controls below the message are for", own ? 1 : 0, check);
  return (
    <Part title="These settings are for">
      <div className="segments" {...group}>
        <button {...radio(0)} data-testid="scope-app" onClick={() => check(0)}>
          All chats
        </button>
        <button {...radio(1)} data-testid="scope-chat" onClick={() => check(1)}>
          This chat
        </button>
      </div>
      <p className="popover-note">
        {own
          ? "MTP, sampling and thinking change in this chat alone."
          : "MTP, sampling and thinking change in all chats that have no settings of their own."}
      </p>
    </Part>
  );
}

function KeepPreset() {
  const [name, setName] = useState("");
  const preset = useStore((state) => state.presets.find(({ id }) => id === state.chatSettings.preset));
  const trimmed = name.trim();
  const keep = async () => {
    if (await addPreset(trimmed)) setName("");
  };
  return (
    <Part title="Keep as a preset">
      {preset && (
        <div className="preset-actions">
          <button
            type="button"
            className="button"
            data-testid="update-preset"
            onClick={() => changePreset(preset)}
          >
            <span>Update “{preset.name}”</span>
          </button>
          <button
            type="button"
            className="quiet-button"
            data-testid="delete-preset"
            onClick={() => deletePreset(preset)}
          >
            Delete
          </button>
        </div>
      )}
      <form
        className="field preset-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (trimmed !== "") keep();
        }}
      >
        <input
          type="text"
          autoComplete="off"
          value={name}
          placeholder="Name of a new preset"
          aria-label="Name of a new preset"
          data-testid="preset-name"
          onChange={(event) => setName(event.target.value)}
        />
        <ActionButton
          type="submit"
          className="button"
          data-testid="keep-preset"
          reason={trimmed === "" ? "The preset has no name yet." : null}
        >
          Keep
        </ActionButton>
      </form>
    </Part>
  );
}
