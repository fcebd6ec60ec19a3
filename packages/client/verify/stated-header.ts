// Reads a header that a response states together with its block.
import { type BlockHeader, formatTime, readHeader } from "./header.ts";
import { Rejection } from "./rejection.ts";
import { type JsonObject, memberOf, requireClosed, requireHex } from "./strict-json.ts";

/** Above the largest header: a bloom of 256 bytes, and extra data that some chains fill. */
const HEADER = /^0x(?:[0-9a-f]{2}){1,4096}$/;

/** The header, which must be that of the block next to it. */
export function readStatedHeader(entry: JsonObject, path: string): BlockHeader {
  const block = requireClosed(memberOf(entry, "block"), `${path}/block`, ["number", "hash", "timestamp"]);
  const header = readHeader(requireHex(memberOf(entry, "header"), `${path}/header`, HEADER));
  const isSame =
    memberOf(block, "hash") === header.hash &&
    memberOf(block, "number") === header.number.toString() &&
    memberOf(block, "timestamp") === formatTime(header.timestamp);
  if (!isSame) throw new Rejection(`${path}/header is that of another block.`);
  return header;
}
