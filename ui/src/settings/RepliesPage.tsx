import { draftingChoices } from "../chat/MtpControl";
import { SamplingForm } from "../chat/SamplingForm";
import { ThinkingChoice } from "../chat/ThinkingChoice";
import { t } from "../language/text";
import { draftingName } from "../primitives/format";
import { Segments } from "../primitives/Segments";
import { useStore } from "../state/store";
import { changeDefaults } from "./actions";
import { Page } from "./Page";
import { Group, Row } from "./Row";
import { StandingInstructions } from "./StandingInstructions";

/** How replies are written in chats without settings of their own. */
export function RepliesPage() {
  const settings = useStore((state) => state.settings);
  const depths = draftingChoices().map(({ name, drafting }) => ({ name, value: drafting }));
  const depth = depths.findIndex(({ name }) => name === draftingName(settings.drafting));
  return (
    <Page title={t("settings-page.replies")} testId="settings-replies">
      <p className="part-note">{t("settings-replies-note")}</p>
      <Group>
        <Row name="MTP" words={t("settings-mtp.words")}>
          <Segments
            label={t("settings-mtp.label")}
            choices={depths}
            at={depth}
            testId="default-mtp"
            onChoose={(drafting) => changeDefaults({ drafting })}
          />
        </Row>
      </Group>
      <Group name={t("settings-thinking")} words={t("settings-thinking.words")}>
        <div className="settings-sampling">
          <ThinkingChoice
            thinking={settings.thinking}
            model={null}
            testId="default-thinking"
            change={changeDefaults}
          />
        </div>
      </Group>
      <Group name={t("settings-standing")} words={t("settings-standing.words")}>
        <StandingInstructions />
      </Group>
      <Group name={t("settings-sampling")} words={t("settings-sampling.words")}>
        <div className="settings-sampling">
          <SamplingForm generation={settings} change={changeDefaults} />
        </div>
      </Group>
    </Page>
  );
}
