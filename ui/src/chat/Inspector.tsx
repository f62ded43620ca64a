import { type ReactNode, useId, useState } from "react";
import { ActionButton } from "../primitives/ActionButton";
import { count, draftingName, isGreedy } from "../primitives/format";
import { Icon } from "../primitives/icons";
import { radios } from "../primitives/radios";
import { setView, useGeneration, useModel, useStore } from "../state/store";
import { contextLabel, contextUse } from "./context";
import { addPreset, changePreset, choosePreset, deletePreset } from "./presets";
import { changeChatSettings } from "./settings";

/** Opens and closes the panel with the chat's settings. */
export function InspectorToggle() {
  const open = useStore((state) => state.inspector);
  const words = open ? "Hide the chat's settings" : "Show the chat's settings";
  return (
    <button
      type="button"
      className="icon-button inspector-toggle"
      aria-label={words}
      title={words}
      aria-expanded={open}
      data-testid="inspector-toggle"
      onClick={() => setView({ inspector: !open })}
    >
      <Icon name="inspector" />
    </button>
  );
}

/** How replies are written in the open chat. */
export function Inspector() {
  return (
    <aside className="inspector" aria-label="Settings of this chat" data-testid="inspector">
      <div className="inspector-body">
        <PresetChoice />
        <SystemPrompt />
        <Scope />
        <KeepPreset />
        <Context />
      </div>
    </aside>
  );
}

function InspectorSection({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="inspector-part" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function PresetChoice() {
  const presets = useStore((state) => state.presets);
  const chosen = useStore((state) => state.chatSettings.preset);
  return (
    <InspectorSection title="Preset">
      <div className="select-place">
        <select
          className="select"
          aria-label="Preset"
          data-testid="preset"
          value={chosen ?? ""}
          onChange={(event) => choosePreset(event.target.value === "" ? null : Number(event.target.value))}
        >
          <option value="">The model's own values</option>
          {presets.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
        <Icon name="down" />
      </div>
    </InspectorSection>
  );
}

function SystemPrompt() {
  const id = useId();
  const prompt = useStore((state) => state.chatSettings.system_prompt);
  return (
    <InspectorSection title="System prompt">
      <textarea
        id={id}
        className="system-prompt"
        rows={6}
        value={prompt}
        placeholder="What the model is to know and to do in the whole chat"
        aria-label="System prompt"
        data-testid="system-prompt"
        onChange={(event) => changeChatSettings({ system_prompt: event.target.value })}
      />
    </InspectorSection>
  );
}

/** Whether the controls below the message are for this chat alone. */
function Scope() {
  const own = useStore((state) => state.chatSettings.generation !== null);
  const settings = useGeneration();
  const check = (index: number) => changeChatSettings({ generation: index === 0 ? null : settings });
  const { group, radio } = radios("What the controls below the message are for", own ? 1 : 0, check);
  const sampling = isGreedy(settings.sampling)
    ? "greedy"
    : `temperature ${settings.sampling.temperature.toFixed(2)}`;
  return (
    <InspectorSection title="MTP, sampling and thinking">
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
          ? "The controls below the message change this chat alone."
          : "The controls below the message change all chats that have no settings of their own."}
      </p>
      <p className="popover-note" data-testid="scope-words">
        MTP {draftingName(settings.drafting)}, {sampling}, thinking {settings.thinking ? "on" : "off"}, at
        most {count(settings.max_tokens)} tokens.
      </p>
    </InspectorSection>
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
    <InspectorSection title="Keep these settings">
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
    </InspectorSection>
  );
}

/** How much of what the model can read the chat takes. */
function Context() {
  const messages = useStore((state) => state.messages);
  const model = useModel();
  const settings = useGeneration();
  const use = contextUse(messages, model, settings);
  if (use === null) return null;
  return (
    <InspectorSection title="Context">
      <progress value={Math.min(use.used / use.of, 1)} aria-label="Share of the context that is used" />
      <p className="context-numbers numbers" data-testid="context">
        {count(use.used)} of {count(use.of)} tokens
      </p>
      <p className="popover-note">{contextLabel(use)}</p>
    </InspectorSection>
  );
}
