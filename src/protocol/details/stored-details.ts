// The stored form of details: one byte says whether the rest is calldata or a contract record, so a rebuild needs no node.
import type { Hex } from "../../lib/hex.ts";
import type { DetailsReader } from "../../schema/event-details.ts";

const FROM_CALL = "0x00";
const FROM_STATE = "0x01";

export const encodeCallDetails = (input: Hex): Hex => `${FROM_CALL}${input.slice(2)}`;
export const encodeStateDetails = (record: Hex): Hex => `${FROM_STATE}${record.slice(2)}`;

/** How a fold reads stored details. */
export function createStoredDetailsReader(stored: Hex | null): <T>(reader: DetailsReader<T>) => T {
  return (reader) => {
    const payload: Hex = `0x${stored?.slice(4) ?? ""}`;
    if (stored?.startsWith(FROM_STATE)) return reader.decodeState(payload);
    const details = stored?.startsWith(FROM_CALL) ? reader.decodeCall(payload) : null;
    if (details === null) throw new Error("the details of the event were not stored with its log");
    return details;
  };
}
