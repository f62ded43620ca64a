/** Red, green and blue, from 0 to 255. */
type Rgb = readonly [number, number, number];

/** What the system's accent becomes in a theme, `#rrggbb`. */
interface SystemColours {
  /** A switch, a chosen row: told from what it stands on as a text is. */
  system: string;
  /** White text can be read on it. */
  fill: string;
  /** The ring around what has the focus. */
  focus: string;
}

/** What a theme lays the accent on, and what the accent is mixed with until it can be told from that. */
interface Theme {
  grounds: readonly Rgb[];
  towards: Rgb;
}

const [WHITE, BLACK]: [Rgb, Rgb] = [
  [255, 255, 255],
  [0, 0, 0],
];
/** The roles ground, side, raised and field of `tokens.css`. */
const THEMES: Record<"light" | "dark", Theme> = {
  light: {
    grounds: [WHITE, [0xf5, 0xf5, 0xf3]],
    towards: BLACK,
  },
  dark: {
    grounds: [
      [0x1c, 0x1c, 0x1e],
      [0x16, 0x16, 0x18],
      [0x28, 0x28, 0x2b],
      [0x1f, 0x1f, 0x22],
    ],
    towards: WHITE,
  },
};
/** The least contrast of a text, and of an edge that must be seen. */
const [TEXT, EDGE] = [4.5, 3];
/** How much of the ring hides what is behind it. */
const RING = 0.75;
/** In how many steps a colour becomes black or white. */
const STEPS = 100;

/** What is made of an accent for a theme. Where it can be told from what it stands on it stays as it is. */
export function systemColours(accent: string, theme: keyof typeof THEMES): SystemColours | null {
  const colour = parse(accent);
  if (colour === null) return null;
  const { grounds, towards } = THEMES[theme];
  const isText = (one: Rgb) => grounds.every((ground) => contrast(one, ground) >= TEXT);
  const isRing = (one: Rgb) => grounds.every((ground) => contrast(mix(ground, one, RING), ground) >= EDGE);
  return {
    system: written(firstThat(colour, towards, isText)),
    fill: written(firstThat(colour, BLACK, (one) => contrast(WHITE, one) >= TEXT)),
    focus: written(firstThat(colour, towards, isRing)),
  };
}

/** The first colour on the way from one to another that is as it should be. */
function firstThat(from: Rgb, to: Rgb, isEnough: (colour: Rgb) => boolean): Rgb {
  for (let step = 0; step < STEPS; step += 1) {
    const colour = mix(from, to, step / STEPS);
    if (isEnough(colour)) return colour;
  }
  return to;
}

const mix = (from: Rgb, to: Rgb, share: number): Rgb =>
  [0, 1, 2].map((at) => {
    const [a, b] = [from[at] as number, to[at] as number];
    return Math.round(a + share * (b - a));
  }) as unknown as Rgb;

/** The ratio of two colours that WCAG defines, from 1 to 21. */
function contrast(one: Rgb, other: Rgb): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function luminance(colour: Rgb): number {
  const [red, green, blue] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as unknown as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function parse(colour: string): Rgb | null {
  const parts = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(colour);
  return parts && (parts.slice(1).map((part) => Number.parseInt(part, 16)) as unknown as Rgb);
}

const written = (colour: Rgb): string =>
  `#${colour.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
