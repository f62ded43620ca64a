import { useEffect, useRef } from "react";
import { type Appearance, type PlaceKind, ZOOMS } from "../bridge/bindings";
import { DRAFTING_CHOICES } from "../chat/MtpControl";
import { SamplingForm } from "../chat/SamplingForm";
import { chooseImport, exportChats } from "../chatList/files";
import { ErrorNote } from "../frame/ErrorNote";
import { Screen } from "../frame/Screen";
import { draftingName, isGreedy } from "../primitives/format";
import { PopoverButton } from "../primitives/PopoverButton";
import { MAC, SHOW_FOLDER } from "../primitives/platform";
import { Segments } from "../primitives/Segments";
import { setView, useStore } from "../state/store";
import {
  changeDefaults,
  changePreferences,
  openDiagnostics,
  openNotices,
  openToken,
  revealPlace,
} from "./actions";
import { Row, Section, SwitchRow } from "./Row";

const APPEARANCES: { name: string; value: Appearance }[] = [
  { name: "Auto", value: "auto" },
  { name: "Light", value: "light" },
  { name: "Dark", value: "dark" },
];

const SIZES: readonly number[] = ZOOMS;

const DEPTHS = DRAFTING_CHOICES.map(({ name, drafting }) => ({ name, value: drafting }));

const PLACES: Record<PlaceKind, { name: string; words: string }> = {
  settings: { name: "Settings", words: "What you have chosen" },
  chats: { name: "Chats", words: "Chats, their drafts and their daily copies" },
  models: { name: "Models", words: "Models that were downloaded or converted" },
  cache: { name: "Cache", words: "What can be made again; it can be deleted at any time" },
  log: { name: "Log", words: "What the app and the engine say, of this start and the one before" },
};

/** How the app looks and behaves, and where its files are. */
export function SettingsScreen() {
  const error = useStore((state) => state.settingsError);
  const section = useStore((state) => state.section);
  const screen = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (section === null) return;
    const part = screen.current?.querySelector<HTMLElement>(`[data-section=${section}]`);
    part?.scrollIntoView({ block: "start" });
    part?.focus({ preventScroll: true });
    setView({ section: null });
  }, [section]);
  return (
    <Screen title="Settings" testId="settings-screen" takesFocus={section === null}>
      <div className="screen-column" ref={screen}>
        {error && <ErrorNote error={error} testId="settings-error" />}
        <Look />
        <Defaults />
        <Memory />
        <WindowPart />
        <Data />
        <Help />
      </div>
    </Screen>
  );
}

function Look() {
  const { appearance, zoom } = useStore((state) => state.preferences);
  return (
    <Section id="appearance" name="Appearance">
      <Row name="Light or dark" words="Auto follows the system.">
        <Segments
          label="Light or dark"
          choices={APPEARANCES}
          at={APPEARANCES.findIndex(({ value }) => value === appearance)}
          testId="appearance"
          onChoose={(appearance) => changePreferences({ appearance })}
        />
      </Row>
      <Row name="Size" words="Text and everything around it.">
        <Segments
          label="Size in percent"
          choices={SIZES.map((value) => ({ name: String(value), value }))}
          at={SIZES.indexOf(zoom)}
          testId="zoom"
          onChoose={(zoom) => changePreferences({ zoom })}
        />
      </Row>
    </Section>
  );
}

function Defaults() {
  const settings = useStore((state) => state.settings);
  const depth = DEPTHS.findIndex(({ name }) => name === draftingName(settings.drafting));
  return (
    <Section
      id="defaults"
      name="Chats without settings of their own"
      words="How replies are written in new chats, and in every other that was not given settings of its own."
    >
      <Row
        name="Multi-token prediction"
        words="How many tokens the model guesses ahead. Auto does what pays."
      >
        <Segments
          label="Drafts per pass"
          choices={DEPTHS}
          at={depth}
          testId="default-mtp"
          onChoose={(drafting) => changeDefaults({ drafting })}
        />
      </Row>
      <Row name="Sampling" words="How words are chosen. Each model remembers its own.">
        <PopoverButton
          label={isGreedy(settings.sampling) ? "Greedy" : "Sampled"}
          title="Sampling of chats without settings of their own"
          testId="default-sampling"
          className="button"
          side="bottom"
          popupClassName="replies"
        >
          <SamplingForm generation={settings} change={changeDefaults} />
        </PopoverButton>
      </Row>
      <SwitchRow
        name="Thinking"
        words="Whether a model that can may think before it answers."
        on={settings.thinking}
        testId="default-thinking"
        onChange={(thinking) => changeDefaults({ thinking })}
      />
    </Section>
  );
}

function Memory() {
  return (
    <Section id="memory" name="Model memory">
      <Row
        name="Earlier turns"
        words="What was read of a chat is remembered in memory that nobody else needs, and given back when it is scarce. There is nothing to set."
      />
    </Section>
  );
}

function WindowPart() {
  const { notifications, keep_running: keepRunning } = useStore((state) => state.preferences);
  return (
    <Section id="window" name="Window and notifications">
      <SwitchRow
        name="Notifications"
        words="Tells of long replies, downloads and conversions that end while you look elsewhere."
        on={notifications}
        testId="notifications"
        onChange={(notifications) => changePreferences({ notifications })}
      />
      <SwitchRow
        name="Keep running when the window is closed"
        words={`Replies and downloads go on. ${MAC ? "A click in the Dock" : "Starting Foretoken again"} brings the window back.`}
        on={keepRunning}
        testId="keep-running"
        onChange={(keep_running) => changePreferences({ keep_running })}
      />
    </Section>
  );
}

function Data() {
  const places = useStore((state) => state.places) ?? [];
  const hasToken = useStore((state) => state.library?.has_token ?? false);
  return (
    <Section id="data" name="Data">
      {places.map(({ kind, path }) => (
        <Row
          key={kind}
          name={PLACES[kind].name}
          words={
            <>
              {PLACES[kind].words}
              <br />
              <span className="path">{path}</span>
            </>
          }
        >
          <button
            type="button"
            className="button"
            aria-label={`${SHOW_FOLDER}: ${PLACES[kind].name}`}
            data-testid={`reveal-${kind}`}
            onClick={() => revealPlace(kind)}
          >
            {SHOW_FOLDER}
          </button>
        </Row>
      ))}
      <Row name="All chats" words="One JSON file holds everything and can be imported again.">
        <button type="button" className="button" data-testid="settings-import" onClick={chooseImport}>
          Import…
        </button>
        <button
          type="button"
          className="button"
          data-testid="settings-export"
          onClick={() => exportChats(null, "json")}
        >
          Export…
        </button>
      </Row>
      <Row
        name="Hugging Face token"
        words={
          hasToken ? "Set. It is in the system's keychain." : "Not set. Only restricted models need one."
        }
      >
        <button type="button" className="button" data-testid="settings-token" onClick={openToken}>
          Open in Models
        </button>
      </Row>
    </Section>
  );
}

function Help() {
  return (
    <Section id="help" name="Help and diagnostics">
      <Row name="Diagnostics" words="The log, and a report that can be shown to others.">
        <button type="button" className="button" data-testid="settings-diagnostics" onClick={openDiagnostics}>
          Open
        </button>
      </Row>
      <Row name="Third-party notices" words="What others have made and Foretoken carries, and its licences.">
        <button type="button" className="button" data-testid="settings-notices" onClick={openNotices}>
          Open
        </button>
      </Row>
      <Row name="Keyboard shortcuts" words="All keys that do something.">
        <button
          type="button"
          className="button"
          data-testid="settings-shortcuts"
          onClick={() => setView({ shortcuts: true })}
        >
          Show
        </button>
      </Row>
    </Section>
  );
}
