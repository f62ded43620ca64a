import { useEffect, useRef, useState } from "react";
import { SidebarToggle } from "../components/Sidebar";
import { HERE } from "../platform";
import { useStore } from "../store";
import { getModels } from "./actions";
import { ContextControl } from "./ContextControl";
import { Jobs } from "./Jobs";
import { LocalModels } from "./LocalModels";
import { Storage } from "./Place";
import { RemoteDetails } from "./RemoteDetails";
import { RemoteModels } from "./RemoteModels";

/** Everything about the models: those that are here, those on their way, and those to get. */
export function ModelsScreen() {
  const sidebar = useStore((state) => state.sidebar);
  const heading = useRef<HTMLHeadingElement>(null);
  const [scrolled, setScrolled] = useState(false);
  // Where something on the screen was asked for, the focus goes there.
  const [atTop] = useState(() => useStore.getState().spotlight === null);
  useEffect(() => {
    if (atTop) heading.current?.focus({ preventScroll: true });
  }, [atTop]);
  return (
    <main className="main">
      <header className="toolbar" data-tauri-drag-region>
        {!sidebar && <SidebarToggle />}
        <h1 ref={heading} tabIndex={-1} className="screen-title">
          Models
        </h1>
        <span className="spring" />
        <ContextControl />
        <button type="button" className="quiet-button" data-testid="go-to-get" onClick={getModels}>
          Get models
        </button>
      </header>
      <div className={scrolled ? "screen-place scrolled" : "screen-place"}>
        <div
          className="screen"
          data-testid="models-screen"
          onScroll={(event) => setScrolled(event.currentTarget.scrollTop > 0)}
        >
          <div className="screen-column">
            <LocalModels heading={`On ${HERE}`} />
            <Jobs />
            <RemoteModels />
            <Storage />
          </div>
        </div>
      </div>
      <RemoteDetails />
    </main>
  );
}
