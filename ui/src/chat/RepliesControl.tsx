import { type ReactNode, useId, useState } from "react";
import { t } from "../language/text";
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
      title={t("reply-settings")}
      testId="sampling-control"
      popupClassName="replies"
      open={open}
      onOpenChange={(repliesOpen) => setView({ repliesOpen })}
    >
      <PresetChoice />
      <Part title={t("reply-settings-words")} term={t("reply-settings-words.term")}>
        <SamplingForm generation={generation} change={changeSettings} />
      </Part>
      <Part title={t("reply-settings-thinking")}>
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
      <h2>{t("reply-settings")}</h2>
      <div className="select-place">
        <select
          className="select"
          aria-label={t("reply-preset")}
          data-testid="preset"
          value={chosen ?? ""}
          onChange={(event) => choosePreset(event.target.value === "" ? null : Number(event.target.value))}
        >
          <option value="">{t("reply-preset.standard")}</option>
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
    <Part title={t("reply-settings-system")} term={t("reply-settings-system.term")}>
      <textarea
        id={id}
        className="system-prompt"
        rows={3}
        value={prompt}
        placeholder={t("reply-settings-system.placeholder")}
        aria-label={t("reply-settings-system.label")}
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
  const { group, radio } = radios(t("reply-scope.label"), own ? 1 : 0, check);
  return (
    <Part title={t("reply-scope")}>
      <div className="segments" {...group}>
        <button {...radio(0)} data-testid="scope-app" onClick={() => check(0)}>
          {t("reply-scope.all")}
        </button>
        <button {...radio(1)} data-testid="scope-chat" onClick={() => check(1)}>
          {t("reply-scope.this")}
        </button>
      </div>
      <p className="popover-note">{t(own ? "reply-scope.this-words" : "reply-scope.all-words")}</p>
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
    <Part title={t("reply-preset-keep")}>
      {preset && (
        <div className="preset-actions">
          <button
            type="button"
            className="button"
            data-testid="update-preset"
            onClick={() => changePreset(preset)}
          >
            <span>{t("reply-preset-keep.update", { name: preset.name })}</span>
          </button>
          <button
            type="button"
            className="quiet-button"
            data-testid="delete-preset"
            onClick={() => deletePreset(preset)}
          >
            {t("reply-preset-keep.delete")}
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
          placeholder={t("reply-preset-keep.name")}
          aria-label={t("reply-preset-keep.name")}
          data-testid="preset-name"
          onChange={(event) => setName(event.target.value)}
        />
        <ActionButton
          type="submit"
          className="button"
          data-testid="keep-preset"
          reason={trimmed === "" ? t("reply-preset-keep.no-name") : null}
        >
          {t("reply-preset-keep.keep")}
        </ActionButton>
      </form>
    </Part>
  );
}
