import { useEffect, useId, useState } from "react";
import type { ServerInfo } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { ErrorNote } from "../frame/ErrorNote";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { Icon } from "../primitives/icons";
import { ServerDetails } from "./ServerDetails";
import { ServerForm } from "./ServerForm";
import { enableServer, standing, wantsSignIn } from "./toolServers";
import { useComeBack } from "./useComeBack";
import { useDeed } from "./useDeed";

/** A server: how it is, whether it may be used, and, unfolded, all there is to know of it. */
export function ServerRow({ server }: { server: ServerInfo }) {
  const { slug, name, enabled, signed_in, status } = server;
  const [open, setOpen] = useState(false);
  const [edits, setEdits] = useState(false);
  const { busy, error, run, forget } = useDeed();
  const details = useId();
  const { button, comeBack } = useComeBack();
  // It lasts as long as the person takes, and what else can be done is not to wait for it.
  const signIn = useDeed();
  const failed = enabled && status.state === "failed";
  const told = (enabled ? signIn.error : null) ?? (failed ? status.error : error);
  const start = () => run(() => shell.startToolServer(slug));
  const forgetSignIn = signIn.forget;
  useEffect(() => {
    if (status.state !== "running") return;
    forget();
    forgetSignIn();
  }, [status.state, forget, forgetSignIn]);
  const closeForm = () => {
    comeBack();
    setEdits(false);
  };
  const reason = busy ? t("settings-server-busy") : null;
  const cannotSignIn = reason ?? (signIn.busy ? t("settings-server-busy") : null);
  const mayStart = enabled && status.state === "stopped";
  return (
    <article
      className="server"
      aria-label={name}
      data-testid="tool-server"
      data-state={enabled ? status.state : "off"}
    >
      <div className="server-head">
        <button
          type="button"
          className="server-fold"
          aria-expanded={open}
          aria-controls={details}
          data-testid="server-fold"
          onClick={() => setOpen(!open)}
        >
          <Icon name={open ? "down" : "right"} />
          <span className="setting-text">
            <span className="setting-name">{name}</span>
            <span
              className={`setting-words numbers${failed ? " api-failed" : ""}`}
              aria-live="polite"
              data-testid="server-state"
            >
              {standing(server)}
            </span>
          </span>
        </button>
        {enabled && status.state === "signing_in" && (
          <button
            type="button"
            className="button"
            aria-label={t("settings-server-give-up.label", { name })}
            data-testid="give-up-sign-in"
            onClick={() => run(() => shell.giveUpSignIn(slug))}
          >
            {t("settings-server-give-up")}
          </button>
        )}
        <ActionButton
          role="switch"
          aria-checked={enabled}
          aria-label={t("settings-server-switch", { name })}
          className="switch"
          data-testid="server-switch"
          reason={reason}
          onClick={() => run(() => enableServer(slug, !enabled))}
        />
      </div>
      {told && (
        <div className="server-failure">
          <ErrorNote
            error={told}
            testId="server-failed"
            actions={
              failed && (
                <>
                  {wantsSignIn(server) && (
                    <ActionButton
                      className="button"
                      aria-label={t("settings-server-sign-in.label", { name })}
                      data-testid="sign-in"
                      reason={cannotSignIn}
                      onClick={() => signIn.run(() => shell.signInToServer(slug))}
                    >
                      {t("settings-server-sign-in")}
                    </ActionButton>
                  )}
                  <ActionButton className="button" data-testid="try-server" reason={reason} onClick={start}>
                    {t("settings-server-try")}
                  </ActionButton>
                </>
              )
            }
          />
        </div>
      )}
      <div id={details} className="server-body" hidden={!open}>
        {open &&
          (edits ? (
            <ServerForm server={server} onClose={closeForm} />
          ) : (
            <ServerDetails
              server={server}
              onStart={mayStart ? start : null}
              onSignOut={signed_in ? () => run(() => shell.signOutOfServer(slug)) : null}
              reason={reason}
              editButton={button}
              onEdit={() => setEdits(true)}
              onRemove={() => run(() => shell.removeToolServer(slug))}
            />
          ))}
      </div>
    </article>
  );
}
