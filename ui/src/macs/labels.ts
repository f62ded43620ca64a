import type { MacLayers, MacLink, SpreadModel, SpreadPart } from "../bridge/bindings";
import { t } from "../language/text";
import { line } from "../models/labels";
import { bytes, commas, count, rate, writtenBy } from "../primitives/format";
import { folderName } from "../state/server";

/** The Macs that share a model as texts name them: this one is called that. */
export const partName = ({ key, name }: Pick<SpreadPart, "key" | "name">): string =>
  key === null ? t("macs-this") : name;

/** `11 layers`. */
export const layersLabel = (layers: number): string => t("macs-layers", { count: layers });

const withLayers = (name: string, layers: number): string =>
  t("macs-part.layers", { name, layers: layersLabel(layers) });

/** `This Mac 11 layers, Studio 49 layers`. */
export const splitLabel = (parts: SpreadPart[], layers: number[]): string =>
  commas(parts.map((part, at) => withLayers(partName(part), layers[at] ?? part.layers)));

/** `This Mac 28 layers · Studio 36 layers`. */
export const ringLabel = (macs: MacLayers[]): string =>
  line(...macs.map(({ layers }, at) => withLayers(ringName(macs, at), layers)));

/** What a Mac of those that compute is called: the first is this one. */
export const ringName = (macs: MacLayers[], at: number): string =>
  at === 0 ? t("macs-this") : (macs[at]?.name ?? "");

/** `This Mac + Studio`. */
export const together = (parts: SpreadPart[]): string => {
  const [first, ...others] = parts.map(partName);
  return others.reduce((all, name) => t("macs-plus", { first: all, rest: name }), first ?? "");
};

/** Names in a sentence: `Studio and Mac mini`. */
export const listed = (names: string[]): string => new Intl.ListFormat(writtenBy()).format(names);

/** `0.2 ms`. */
export const milliseconds = (value: number): string => t("word-milliseconds", { milliseconds: rate(value) });

/** `0.2 ms, 2.9 GB/s`: the slower of the two directions. */
export const linkLabel = ({ round_trip_ms, sent_per_second, received_per_second }: MacLink): string =>
  commas([
    milliseconds(round_trip_ms),
    t("model-bytes-per-second", { bytes: bytes(Math.min(sent_per_second, received_per_second)) }),
  ]);

/** How long something is still good for: `1 min 42 s`, `9 s`. */
export const timeLabel = (seconds: number): string =>
  seconds < 60
    ? t("word-seconds", { seconds: count(seconds) })
    : t("word-minutes-seconds", { minutes: count(Math.floor(seconds / 60)), seconds: count(seconds % 60) });

/** Six digits as they are read: `418 207`. */
export const grouped = (digits: string): string => `${digits.slice(0, 3)} ${digits.slice(3)}`;

/** What a model in a folder is called where the library does not know it. */
export const modelOf = ({ path }: Pick<SpreadModel, "path">): string => folderName(path) ?? path;

/** The layers that each Mac has once the edge behind the one at `at` lies `left` layers after its beginning. */
export function moved(layers: number[], at: number, left: number): number[] {
  const both = (layers[at] ?? 0) + (layers[at + 1] ?? 0);
  const first = Math.min(Math.max(Math.round(left), 1), both - 1);
  return layers.map((one, place) => (place === at ? first : place === at + 1 ? both - first : one));
}

/** What parts take with so many layers each, in bytes: a layer is as large as the mean. */
export function sizes(parts: SpreadPart[], layers: number[]): number[] {
  const all = parts.reduce((sum, part) => sum + part.layers, 0);
  const layer = parts.reduce((sum, part) => sum + part.bytes, 0) / Math.max(all, 1);
  return parts.map((part, at) => part.bytes + ((layers[at] ?? part.layers) - part.layers) * layer);
}
