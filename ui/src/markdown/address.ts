import { toUnicode } from "punycode/";

/**
 * An address as it is shown and as it is opened: `start`, `host` and `rest` in a row. It is ASCII alone, so that
 * nothing in it can be hidden, reversed or taken for another letter.
 */
export interface Address {
  /** What stands before the host. */
  start: string;
  /** The site, or that of a mailbox. */
  host: string;
  /** What stands after the host. */
  rest: string;
  /** It leads to a mail and not to a page. */
  mail: boolean;
  /** What one could be deceived by, in sentences. */
  notes: string[];
}

/** The address that a text names: that of a page, or of a mailbox. `null` for all others. */
export function addressOf(written: string): Address | null {
  const url = URL.canParse(written) ? new URL(written) : null;
  switch (url?.protocol) {
    case "http:":
    case "https:":
      return pageOf(url);
    case "mailto:":
      return mailOf(url);
    default:
      return null;
  }
}

/** The address of a link whose text is `text`. A text that is an address itself should be that of the same site. */
export function addressOfLink(written: string, text: string): Address | null {
  const address = addressOf(written);
  const said = /^(?:https?:\/\/|www\.)\S+$/i.test(text.trim()) ? addressOf(withScheme(text.trim())) : null;
  if (address === null || said === null || withoutWww(said.host) === withoutWww(address.host)) return address;
  return { ...address, notes: [`The text of the link names another site, ${said.host}.`, ...address.notes] };
}

const withScheme = (text: string): string => (/^www\./i.test(text) ? `https://${text}` : text);
const withoutWww = (host: string): string => host.replace(/^www\./, "");

/** The whole address. */
export const wholeOf = ({ start, host, rest }: Address): string => start + host + rest;

function pageOf(url: URL): Address {
  const { protocol, hostname: host, port, pathname, search, hash, username, password } = url;
  const rest = `${port && `:${port}`}${pathname}${search}${hash}`;
  const notes = imitations(host);
  if (username !== "" || password !== "")
    notes.unshift(`A name to sign in with, “${username}”, is left out: the site is ${host}.`);
  return { start: `${protocol}//`, host, rest, mail: false, notes };
}

/** A local part and a host, without white space, controls and direction marks. */
const MAILBOX = /^([^\s\p{C}@"<>]+)@([^\s\p{C}@"<>]+)$/u;

/** One mailbox and a subject are kept: a mail says and reaches only what the person sees. */
function mailOf({ pathname, search }: URL): Address | null {
  const [first = "", ...others] = decoded(pathname)?.split(",") ?? [];
  const [, local, domain] = MAILBOX.exec(first) ?? [];
  const host = domain === undefined ? null : hostOf(domain);
  if (local === undefined || host === null) return null;
  // In the address of a mail a plus sign is one.
  const fields = [...new URLSearchParams(search.replaceAll("+", "%2B"))];
  const subject = fields.find(([name]) => name.toLowerCase() === "subject")?.[1] ?? "";
  const oneLine = subject.replace(/[\s\p{C}]+/gu, " ").trim();
  const notes = imitations(host);
  if (others.length > 0 || fields.length > (subject === "" ? 0 : 1))
    notes.push("More is written in the link. Only one mailbox and the subject are kept.");
  return {
    start: `mailto:${encodeURIComponent(local).replaceAll("%2B", "+")}@`,
    host,
    rest: oneLine && `?subject=${encodeURIComponent(oneLine)}`,
    mail: true,
    notes,
  };
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** A domain as addresses of pages write it; `null` if it is none. */
function hostOf(domain: string): string | null {
  if (!URL.canParse(`https://${domain}`)) return null;
  const { hostname, href } = new URL(`https://${domain}`);
  // A character may stand for a comma, which would begin another mailbox.
  return href === `https://${hostname}/` && /^[\w.-]+$/.test(hostname) ? hostname : null;
}

/** Scripts that names of sites are written in, or nearly all of them. */
const SCRIPTS = [
  "Latin",
  "Cyrillic",
  "Greek",
  "Armenian",
  "Georgian",
  "Cherokee",
  "Hebrew",
  "Arabic",
  "Devanagari",
  "Bengali",
  "Tamil",
  "Thai",
  "Han",
  "Hiragana",
  "Katakana",
  "Hangul",
].map((name) => ({ name, letter: new RegExp(`\\p{Script=${name}}`, "u") }));

/** Says how a host reads whose letters are not all ASCII: they may look like those of another one. */
function imitations(host: string): string[] {
  const name = toUnicode(host);
  if (name === host) return [];
  const labels = name.split(".").filter((label) => /\P{ASCII}/u.test(label));
  const scripts = SCRIPTS.filter(({ letter }) => labels.some((label) => letter.test(label)));
  const words = scripts.map(({ name }) => name).join(" and ") || "foreign";
  // A name from right to left leaves the sentence as it is.
  return [`Written out it is “\u2068${name}\u2069”, with ${words} letters. It may imitate another site.`];
}
