// The actions of the client that pay, by the name of their operation.
import { OPERATIONS } from "@sextant/client/generated/operations";
import type { Operation, Paid, PaidOptions } from "@sextant/client/operation";
import type { Sextant } from "@sextant/client/sextant";

type PaidAction = (
  parameters: Readonly<Record<string, string>>,
  options: PaidOptions,
) => Promise<Paid<unknown>>;

/** Throws for an operation that is not sold. */
export function findPaidAction(sextant: Sextant, id: string): PaidAction {
  const operations: Readonly<Record<string, Operation>> = OPERATIONS;
  if (operations[id]?.kind !== "paid") throw new TypeError(`${id} is not sold.`);
  return sextant[id as keyof Sextant] as unknown as PaidAction;
}
