import { type Appearance, type GuessHue, ZOOMS } from "../bridge/bindings";
import { Pulse } from "../chat/Pulse";
import { RichText } from "../language/RichText";
import { t } from "../language/text";
import { keysLabel } from "../palette/table";
import { percent } from "../primitives/format";
import { radios } from "../primitives/radios";
import { Segments } from "../primitives/Segments";
import { toggleRevealDrafts } from "../reveal/actions";
import { useStore } from "../state/store";
import { changePreferences } from "./actions";
import { Page } from "./Page";
import { Group, Row, SwitchRow } from "./Row";

const appearances = (): { name: string; value: Appearance }[] => [
  { name: t("settings-light.auto"), value: "auto" },
  { name: t("settings-light.light"), value: "light" },
  { name: t("settings-light.dark"), value: "dark" },
];

const widths = () => [
  { name: t("settings-width.column"), value: false },
  { name: t("settings-width.wide"), value: true },
];

const SIZES: readonly number[] = ZOOMS;

const hues = (): { hue: GuessHue; name: string }[] => [
  { hue: "violet", name: t("settings-hue.violet") },
  { hue: "teal", name: t("settings-hue.teal") },
  { hue: "orange", name: t("settings-hue.orange") },
  { hue: "pink", name: t("settings-hue.pink") },
];

/** What the parts of the sample become, which are named for how far ahead they were guessed. */
const GUESSED = {
  one: (words: string) => <span className="draft-1">{words}</span>,
  two: (words: string) => <span className="draft-2">{words}</span>,
  three: (words: string) => <span className="draft-3">{words}</span>,
};

/** How many guesses stood in passes that are no reply's. */
const PASSES = [3, 2, 3, 1, 3, 3, 2, 3, 1, 2, 3];

/** How the app looks. */
export function AppearancePage() {
  const { appearance, zoom, wide, wake, pulse } = useStore((state) => state.preferences);
  const reveal = useStore((state) => state.revealDrafts);
  const choices = appearances();
  return (
    <Page title={t("settings-page.appearance")} testId="settings-appearance">
      <Group>
        <Row name={t("settings-light")} words={t("settings-light.words")}>
          <Segments
            label={t("settings-light")}
            choices={choices}
            at={choices.findIndex(({ value }) => value === appearance)}
            testId="appearance"
            onChoose={(appearance) => changePreferences({ appearance })}
          />
        </Row>
        <Row
          name={t("settings-size")}
          words={t("settings-size.words", {
            larger: keysLabel("zoom_in") ?? "",
            smaller: keysLabel("zoom_out") ?? "",
          })}
        >
          <output className="numbers soft">{percent(zoom / 100)}</output>
          <input
            type="range"
            className="slider"
            aria-label={t("settings-size")}
            aria-valuetext={t("settings-size.value", { zoom })}
            data-testid="zoom"
            min={0}
            max={SIZES.length - 1}
            step={1}
            value={SIZES.indexOf(zoom)}
            onChange={(event) => {
              const zoom = SIZES[event.target.valueAsNumber];
              if (zoom !== undefined) changePreferences({ zoom });
            }}
          />
        </Row>
        <Row name={t("settings-width")} words={t("settings-width.words")}>
          <Segments
            label={t("settings-width")}
            choices={widths()}
            at={wide ? 1 : 0}
            testId="width"
            onChoose={(wide) => changePreferences({ wide })}
          />
        </Row>
      </Group>
      <Group name={t("settings-guessed")}>
        <Sample />
        <SwitchRow
          name={t("settings-wake")}
          words={t("settings-wake.words")}
          on={wake}
          testId="wake"
          onChange={(wake) => changePreferences({ wake })}
        />
        <SwitchRow
          name={t("settings-reveal")}
          words={t("settings-reveal.words", { keys: keysLabel("reveal_drafts") ?? "" })}
          on={reveal}
          testId="settings-reveal"
          onChange={toggleRevealDrafts}
        />
        <Row name={t("settings-hue")} words={t("settings-hue.words")}>
          <Hues />
        </Row>
        <SwitchRow
          name={t("settings-pulse")}
          words={t("settings-pulse.words")}
          sample={<Pulse passes={PASSES} columns={PASSES.length} />}
          on={pulse}
          testId="pulse"
          onChange={(pulse) => changePreferences({ pulse })}
        />
      </Group>
    </Page>
  );
}

/** What the tint looks like. */
function Sample() {
  return (
    <figure className="tint-sample">
      <p className="plain-text">
        <RichText id="settings-sample" parts={GUESSED} />
      </p>
      <figcaption>
        {GUESSED.one(t("settings-sample.one"))}
        {GUESSED.two(t("settings-sample.two"))}
        {GUESSED.three(t("settings-sample.three"))}
      </figcaption>
    </figure>
  );
}

function Hues() {
  const chosen = useStore((state) => state.preferences.hue);
  const choices = hues();
  const check = (index: number) => {
    const hue = choices[index]?.hue;
    if (hue) changePreferences({ hue });
  };
  const at = choices.findIndex(({ hue }) => hue === chosen);
  const { group, radio } = radios(t("settings-hue.label"), at, check);
  return (
    <div className="hues" {...group}>
      {choices.map(({ hue, name }, index) => (
        <button
          {...radio(index)}
          key={hue}
          className="hue"
          data-hue={hue}
          aria-label={name}
          title={name}
          data-testid={`hue-${hue}`}
          onClick={() => check(index)}
        />
      ))}
    </div>
  );
}
