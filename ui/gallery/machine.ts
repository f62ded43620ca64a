// What a picture must not depend on: the machine that draws it, and when. This runs before any module of the app.

import { clock } from "./clock";
import "./gallery.css";

const Real = Date;

/** Stands still. */
class PinnedDate extends Real {
  constructor(...parts: unknown[]) {
    // @ts-expect-error: whatever a date is made of
    super(...(parts.length === 0 ? [clock.now()] : parts));
  }

  static override now(): number {
    return clock.now();
  }
}

globalThis.Date = PinnedDate as DateConstructor;
performance.now = () => clock.passed;
// The window of a Mac: its keys, its words and the place for its lights.
Object.defineProperty(navigator, "userAgent", { value: "Macintosh" });
Object.defineProperty(navigator, "platform", { value: "MacIntel" });
