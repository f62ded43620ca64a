import type { ServerOffers } from "../../src/bridge/bindings";

/** What servers have for the person. */
export const OFFERS: ServerOffers[] = [
  {
    slug: "issues",
    name: "Issues",
    resources: [
      {
        address: "issues://open",
        name: "Open issues",
        description: "All that are open, the newest first",
        media_type: "application/json",
        bytes: null,
      },
      {
        address: "issues://guide",
        name: "How we write issues",
        description: "",
        media_type: "text/markdown",
        bytes: 6_200,
      },
    ],
    prompts: [
      {
        name: "triage",
        title: "Triage an issue",
        description: "Sorts an issue by what it is about, and says how urgent it is.",
        arguments: [
          { name: "issue", description: "Its number.", required: true },
          { name: "board", description: "Where it is, if not in the kitchen.", required: false },
        ],
      },
      {
        name: "weekly",
        title: "Weekly report",
        description: "What was done this week, for those who were not there",
        arguments: [],
      },
    ],
    error: null,
  },
  {
    slug: "notes",
    name: "Notes",
    resources: [
      {
        address: "file:///Users/anna/Notes/garden.md",
        name: "garden.md",
        description: "Beds, seeds and when they go out",
        media_type: "text/markdown",
        bytes: 48_200,
      },
      {
        address: "file:///Users/anna/Notes/plan.png",
        name: "plan.png",
        description: "",
        media_type: "image/png",
        bytes: 1_310_000,
      },
    ],
    prompts: [],
    error: null,
  },
];

/** One of them lets nobody in. */
export const OFFERS_FAILED: ServerOffers[] = [
  {
    slug: "issues",
    name: "Issues",
    resources: [],
    prompts: [],
    error: {
      code: "server_sign_in",
      message: "The server wants a sign-in.",
      hint: "Sign in to it in the settings, or add the header with your key.",
    },
  },
  ...OFFERS.slice(1),
];
