import { type Appearance, type GuessHue, ZOOMS } from "../bridge/bindings";
import { Pulse } from "../chat/Pulse";
import { keysLabel } from "../palette/table";
import { radios } from "../primitives/radios";
import { Segments } from "../primitives/Segments";
import { toggleRevealDrafts } from "../reveal/actions";
import { PlainText } from "../reveal/RevealedText";
import { useStore } from "../state/store";
import { changePreferences } from "./actions";
import { Page } from "./Page";
import { Group, Row, SwitchRow } from "./Row";

const APPEARANCES: { name: string; value: Appearance }[] = [
  { name: "Auto", value: "auto" },
  { name: "Light", value: "light" },
  { name: "Dark", value: "dark" },
];

const WIDTHS = [
  { name: "Column", value: false },
  { name: "Wide", value: true },
];

const SIZES: readonly number[] = ZOOMS;

const HUES: { hue: GuessHue; name: string }[] = [
  { hue: "violet", name: "Violet" },
  { hue: "teal", name: "Teal" },
  { hue: "orange", name: "Orange" },
  { hue: "pink", name: "Pink" },
];

/** A sentence as it would be written, by how far ahead its words were guessed. */
const SAMPLE: [text: string, ahead: number][] = [
  ["The", 0],
  [" lamps", 1],
  [" along", 2],
  [" the", 3],
  [" quay", 0],
  [" came", 1],
  [" on", 2],
  [" one by one,", 0],
  [" and", 1],
  [" the", 2],
  [" last", 3],
  [" boat turned ", 0],
  ["home", 1],
  [".", 2],
];
const KEY: [text: string, ahead: number][] = [
  ["1 ahead", 1],
  ["2 ahead", 2],
  ["3 or more ahead", 3],
];

/** How many guesses stood in passes that are no reply's. */
const PASSES = [3, 2, 3, 1, 3, 3, 2, 3, 1, 2, 3];

/** How the app looks. */
export function AppearancePage() {
  const { appearance, zoom, wide, wake, pulse } = useStore((state) => state.preferences);
  const reveal = useStore((state) => state.revealDrafts);
  return (
    <Page title="Appearance" testId="settings-appearance">
      <Group>
        <Row name="Light or dark" words="Auto follows the system">
          <Segments
            label="Light or dark"
            choices={APPEARANCES}
            at={APPEARANCES.findIndex(({ value }) => value === appearance)}
            testId="appearance"
            onChoose={(appearance) => changePreferences({ appearance })}
          />
        </Row>
        <Row
          name="Size"
          words={`Text and everything around it. ${keysLabel("zoom_in")} and ${keysLabel("zoom_out")} do the same`}
        >
          <output className="numbers soft">{zoom} %</output>
          <input
            type="range"
            className="slider"
            aria-label="Size"
            aria-valuetext={`${zoom} percent`}
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
        <Row name="Width of the text" words="In a wide window">
          <Segments
            label="Width of the text"
            choices={WIDTHS}
            at={wide ? 1 : 0}
            testId="width"
            onChoose={(wide) => changePreferences({ wide })}
          />
        </Row>
      </Group>
      <Group name="Guessed words">
        <Sample />
        <SwitchRow
          name="Tint while a reply is written"
          words="The newest lines, fading as you read"
          on={wake}
          testId="wake"
          onChange={(wake) => changePreferences({ wake })}
        />
        <SwitchRow
          name="Keep the tint in all replies"
          words={`${keysLabel("reveal_drafts")} shows and hides it at any time`}
          on={reveal}
          testId="settings-reveal"
          onChange={toggleRevealDrafts}
        />
        <Row name="Colour" words="Of everything that was guessed">
          <Hues />
        </Row>
        <SwitchRow
          name="Pulse beside the numbers"
          words="One column for each pass of the model"
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
      <PlainText {...written(SAMPLE)} />
      <figcaption>
        {KEY.map(([text, ahead]) => (
          <span key={ahead} className={`draft-${ahead}`}>
            {text}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

const written = (pieces: [string, number][]) => ({
  text: pieces.map(([text]) => text).join(""),
  runs: pieces.map(([text, ahead]): [number, number] => [text.length, ahead]),
});

function Hues() {
  const chosen = useStore((state) => state.preferences.hue);
  const check = (index: number) => {
    const hue = HUES[index]?.hue;
    if (hue) changePreferences({ hue });
  };
  const at = HUES.findIndex(({ hue }) => hue === chosen);
  const { group, radio } = radios("Colour of what was guessed", at, check);
  return (
    <div className="hues" {...group}>
      {HUES.map(({ hue, name }, index) => (
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
