// What events leave out: from the transaction's calldata where it called the contract itself, else from its state.
import type { Hex } from "../kit/hex.ts";
import type { ChainLog } from "../schema/chain-log.ts";
import type { DetailsReader } from "../schema/details.ts";
import type { DecodedEvent } from "./decode-logs.ts";

/** The chain reads that details need; a door plugs them in. */
export type DetailReads = {
  transactions(
    hashes: readonly Hex[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<Hex, { readonly to: Hex | null; readonly input: Hex }>>;
  /** View calls at the state after a block; a revert is null. */
  calls(
    calls: readonly { readonly to: Hex; readonly data: Hex; readonly blockHash: Hex }[],
    signal: AbortSignal,
  ): Promise<readonly (Hex | null)[]>;
};

type Located = { readonly log: ChainLog; readonly event: DecodedEvent };

// Kept with the stored log, so that a rebuild needs no node: one byte says which of the two it is.
const FROM_CALL = "0x00";
const FROM_STATE = "0x01";

export async function readDetails(
  located: readonly Located[],
  reads: DetailReads,
  signal: AbortSignal,
): Promise<ReadonlyMap<DecodedEvent, Hex>> {
  const found = new Map<DecodedEvent, Hex>();
  const wanting = located.filter(({ event }) => event.rule.details);
  if (wanting.length === 0) return found;

  const alone = onlyOfTheirKind(wanting);
  const transactions = await reads.transactions([...new Set(alone.map(({ event }) => event.txHash))], signal);
  for (const { event } of alone) {
    const transaction = transactions.get(event.txHash);
    if (transaction?.to === event.address && event.rule.details?.fromCall(transaction.input)) {
      found.set(event, `${FROM_CALL}${transaction.input.slice(2)}`);
    }
  }

  const rest = wanting.filter(({ event }) => !found.has(event));
  if (rest.length === 0) return found;
  const outputs = await reads.calls(rest.map(stateCall), signal);
  rest.forEach(({ event }, index) => {
    const output = outputs[index];
    if (!output) throw new Error(`${event.contract} reverted when asked for the details of ${event.name}`);
    found.set(event, `${FROM_STATE}${output.slice(2)}`);
  });
  return found;
}

// A call straight to the contract emits its event once. Where a transaction has several, something stood in between.
function onlyOfTheirKind(located: readonly Located[]): Located[] {
  const kinds = located.map(({ event }) => `${event.txHash}${event.contract}${event.name}`);
  const counts = new Map<string, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return located.filter((_, index) => counts.get(kinds[index] ?? "") === 1);
}

function stateCall({ log, event }: Located): { to: Hex; data: Hex; blockHash: Hex } {
  const data = event.rule.details?.stateCall(event);
  if (!data) throw new Error(`${event.name} has no details to read`);
  return { to: event.address, data, blockHash: log.blockHash };
}

/** How a fold reads stored details. */
export function readerOf(stored: Hex | null): <T>(reader: DetailsReader<T>) => T {
  return (reader) => {
    const payload: Hex = `0x${stored?.slice(4) ?? ""}`;
    if (stored?.startsWith(FROM_STATE)) return reader.fromState(payload);
    const read = stored?.startsWith(FROM_CALL) ? reader.fromCall(payload) : null;
    if (read === null) throw new Error("the details of the event were not stored with its log");
    return read;
  };
}
