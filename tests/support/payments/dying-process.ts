// A process of a paid service that dies in a test: from some statement on, every statement fails.
import type { StagedPaidService } from "./paid-stage.ts";

/** Before or after which statement a process dies; null if it lives. */
export type Death = { readonly statement: number; readonly isAfter: boolean } | null;

export class Died extends Error {}

/** Every statement after a death fails, as those of a process that is gone. */
export function killAt(service: Pick<StagedPaidService, "injected">, death: Death): () => void {
  let count = 0;
  let isDead = false;
  service.injected.statement = async (run) => {
    count += 1;
    if (isDead) throw new Died("it is dead");
    if (death === null || count !== death.statement) return run();
    isDead = true;
    if (death.isAfter) await run();
    throw new Died("it dies");
  };
  return () => {
    delete service.injected.statement;
  };
}
