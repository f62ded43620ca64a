import { runsOf } from "./runs";

/** Code to be read, and the language that it is said to be in. */
export interface Task {
  code: string;
  language: string;
}

addEventListener("message", ({ data: { code, language } }: MessageEvent<Task>) =>
  postMessage(runsOf(code, language)),
);
