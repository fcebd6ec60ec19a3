// Runs an operation of the API through the client: its parameters, as of a block, or after one.
import type { List, Sextant } from "@sextant/client/sextant";
import { Fault } from "../lib/fault.ts";
import { exampleDay, isMoment } from "../lib/moment.ts";
import type { OperationCall } from "./api-operations.ts";
import type { ApiOptions } from "./command.ts";

type ReadControl = {
  /** With --block, --at and --min-block. */
  readonly filters: ApiOptions;
  readonly signal: AbortSignal;
};

type AnyAction = (...given: readonly unknown[]) => unknown;

const BLOCK = /^(0|[1-9][0-9]{0,18})$/;

export async function runRead(sextant: Sextant, call: OperationCall, control: ReadControl): Promise<unknown> {
  return callAction(sextant, call, control);
}

export function openList(
  sextant: Sextant,
  call: OperationCall,
  control: ReadControl,
): List<Readonly<Record<string, unknown>>> {
  return callAction(sextant, call, control) as List<Readonly<Record<string, unknown>>>;
}

/** The description and the actions are generated from the same documents: an operation has its action. */
function callAction(
  sextant: Sextant,
  { operation, parameters }: OperationCall,
  control: ReadControl,
): unknown {
  const block = readTime(control.filters) ?? readBlock(control.filters, "block");
  const minBlock = readBlock(control.filters, "min-block");
  const actions = (block === null ? sextant : sextant.at(block)) as unknown as Record<string, AnyAction>;
  const settings = { signal: control.signal, ...(minBlock === null ? {} : { minBlock }) };
  // Parameters, or a body, or nothing but settings.
  const given = operation.parameters.length > 0 ? [parameters] : [];
  return actions[operation.id]?.(...given, settings);
}

function readTime({ at, block }: ApiOptions): string | null {
  if (at === undefined) return null;
  if (block !== undefined) throw new Fault("USAGE_INVALID", "Give --at or --block, not both.");
  if (!isMoment(at)) {
    throw new Fault(
      "USAGE_INVALID",
      `--at must be a time such as 7d, ${exampleDay()} or ${exampleDay()}T12:00Z, not "${at}".`,
    );
  }
  return at;
}

function readBlock(filters: ApiOptions, name: string): bigint | null {
  const text = filters[name];
  if (text === undefined) return null;
  if (!BLOCK.test(text)) throw new Fault("USAGE_INVALID", `--${name} must be a block number, not "${text}".`);
  return BigInt(text);
}
