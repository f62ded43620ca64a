import { useState } from "react";
import type { CallScope, ReplyCall } from "../bridge/bindings";
import { t } from "../language/text";
import { Icon } from "../primitives/icons";
import { MenuButton } from "../primitives/MenuButton";
import { changesFile, hostOf } from "./ownCalls";

interface Props {
  call: ReplyCall;
  /** What people call its server; null of the app's own tools. */
  server: string | null;
  /** The arguments that it would get. */
  json: string;
  reason: string | null;
  /** Whether the card is so new that nobody has read it. */
  isUnread: () => boolean;
  allow: (scope: CallScope) => void;
}

/** Allows for longer than this call, where that can be. */
export function CallLonger({ call, server, json, reason, isUnread, allow }: Props) {
  const [open, setOpen] = useState(false);
  const choices = longer(call, server, json);
  if (choices.length === 0) return null;
  return (
    <MenuButton
      label={t("call-question.longer-label")}
      testId="allow-longer"
      className="quiet-button"
      open={open}
      onOpenChange={(next) => setOpen(next && !isUnread())}
      entries={choices.map(([name, scope]) => ({ name, reason, onSelect: () => allow(scope) }))}
    >
      {t("call-question.longer")}
      <Icon name="down" />
    </MenuButton>
  );
}

/** For how long a call may be allowed beyond this one, in words. */
function longer(call: ReplyCall, server: string | null, json: string): [string, CallScope][] {
  // Each change is asked for.
  if (changesFile(call)) return [];
  if (server === null && call.tool === "read_page") {
    const host = hostOf(json);
    if (host === null) return [];
    return [
      [t("call-question.pages-in-chat", { host }), "chat"],
      [t("call-question.pages-always", { host }), "always"],
    ];
  }
  // What is picked is given as a whole, whichever folder this call is about.
  if (server === null && call.tool !== "search_web") {
    return [
      [t("call-question.files-in-chat"), "chat"],
      [t("call-question.files-always"), "always"],
    ];
  }
  const choices: [string, CallScope][] = [
    [t("call-question.in-chat"), "chat"],
    [t("call-question.always"), "always"],
  ];
  if (server !== null) choices.push([t("call-question.server", { server }), "server_in_chat"]);
  return choices;
}
