// Payments of one payer whose waits begin and end while the guard reads: each counts, in whatever order that happens.
import { expect, it } from "vitest";
import { silentLog } from "../../../tests/support/quiet-log.ts";
import { systemClock } from "../../lib/clock.ts";
import { PayerGuard } from "./payer-guard.ts";
import type { SettlementKey, SettlementRecord } from "./settlement-records.ts";

const BALANCE = 100n;
const keyOf = (nonce: string): SettlementKey => ({
  ...{ network: "eip155:31337", asset: "0xa", payer: "0xb", nonce: `0x${nonce}`, digest: nonce },
});

/** A table of reservations; `beforeBlocked` runs between the read of the records and that of the balance. */
function openGuard(beforeBlocked: () => Promise<void>) {
  const table = new Map<string, SettlementRecord>();
  const unused = () => Promise.reject(new Error("a plain key does not need it"));
  const records: ConstructorParameters<typeof PayerGuard>[0]["records"] = {
    ...{ sumRevertedGas: unused, addContractPayer: unused, findContractStanding: unused },
    addReservation: async ({ amount, ...key }) => {
      const updatedMs = Date.now();
      table.set(key.nonce, { ...key, amount, updatedMs, transactions: [], isContract: false, gas: 0n });
    },
    findUnresolved: async () => [...table.values()],
    isPayerBlocked: async () => {
      await beforeBlocked();
      return false;
    },
  };
  return new PayerGuard({
    ...{ network: "eip155:31337", records, clock: systemClock, log: silentLog },
    ...{ turns: { run: unused }, revertedGasMax: 1n, transferGasMax: 1n, readCodeHash: async () => null },
    ...{ balanceOf: async () => BALANCE, isPending: async () => true },
  });
}

it("still counts a payment whose wait ends unmined after the records were read", async () => {
  let endFirst = () => {};
  let firstEnded = Promise.resolve<unknown>(null);
  let isSecond = false;
  const guard = openGuard(async () => {
    if (!isSecond) return;
    endFirst();
    await firstEnded;
  });
  const started = new Promise<void>((resolve) => {
    const first = { key: keyOf("1"), amount: 60n, codeHash: null };
    firstEnded = guard.run(first, () => {
      resolve();
      return new Promise<void>((end) => (endFirst = end));
    });
  });
  await started;
  isSecond = true;
  const second = guard.run({ key: keyOf("2"), amount: 60n, codeHash: null }, async () => "sent");
  await expect(second).rejects.toThrow("does not cover all payments in flight");
});
