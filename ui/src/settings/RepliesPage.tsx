import { DRAFTING_CHOICES } from "../chat/MtpControl";
import { SamplingForm } from "../chat/SamplingForm";
import { ThinkingChoice } from "../chat/ThinkingChoice";
import { draftingName } from "../primitives/format";
import { Segments } from "../primitives/Segments";
import { useStore } from "../state/store";
import { changeDefaults } from "./actions";
import { Page } from "./Page";
import { Group, Row } from "./Row";
import { StandingInstructions } from "./StandingInstructions";

const DEPTHS = DRAFTING_CHOICES.map(({ name, drafting }) => ({ name, value: drafting }));

/** How replies are written in chats without settings of their own. */
export function RepliesPage() {
  const settings = useStore((state) => state.settings);
  const depth = DEPTHS.findIndex(({ name }) => name === draftingName(settings.drafting));
  return (
    <Page title="Replies" testId="settings-replies">
      <p className="part-note">
        This holds in new chats, and in every other that was not given settings of its own.
      </p>
      <Group>
        <Row name="MTP" words="How many tokens the model guesses ahead. Auto does what pays">
          <Segments
            label="Drafts per pass"
            choices={DEPTHS}
            at={depth}
            testId="default-mtp"
            onChoose={(drafting) => changeDefaults({ drafting })}
          />
        </Row>
      </Group>
      <Group name="Thinking" words="How much a model that can may think before it answers.">
        <div className="settings-sampling">
          <ThinkingChoice
            thinking={settings.thinking}
            model={null}
            testId="default-thinking"
            change={changeDefaults}
          />
        </div>
      </Group>
      <Group
        name="What every chat should know"
        words="Goes before each chat’s own system prompt, from your next message on. A chat can be without it: This chat, in the panel."
      >
        <StandingInstructions />
      </Group>
      <Group name="Choice of words" words="Sampling. Each model remembers its own.">
        <div className="settings-sampling">
          <SamplingForm generation={settings} change={changeDefaults} />
        </div>
      </Group>
    </Page>
  );
}
