// Random transactions, simulated and then sent on a real chain: every balance and allowance ends where the simulation says.
import { plainTokenAbi } from "@sextant/contracts/generated/plain-token";
import { vault4626Abi } from "@sextant/contracts/generated/vault4626";
import { wrappedEtherAbi } from "@sextant/contracts/generated/wrapped-ether";
import fc from "fast-check";
import { encodeFunctionData, type Hex } from "viem";
import { expect, it } from "vitest";
import { openSimulationStage } from "../../../tests/support/portfolio/simulation-stage.ts";
import { runsOf } from "../../../tests/support/test-depth.ts";
import type { Simulation } from "../../schema/portfolio/simulation.ts";
import type { WalletCall } from "./request.ts";

const stage = await openSimulationStage();
const { chain, wallet, owner, token, ether, vault, simulate, send, view } = stage;
const TOKENS = [token, ether, vault];
const ACCOUNTS = [wallet, owner, token, ether, vault];
const SPENDERS = [owner, vault];

type State = ReadonlyMap<string, bigint>;

const keyOf = (kind: string, contract: Hex | null, account: Hex) => `${kind} ${contract} ${account}`;

/** Every balance of every account, and every allowance of the wallet. */
async function readState(): Promise<State> {
  const abi = plainTokenAbi;
  const state = new Map<string, bigint>();
  for (const account of ACCOUNTS) {
    const balance = (await chain.request("eth_getBalance", [account, "latest"])) as Hex;
    state.set(keyOf("balance", null, account), BigInt(balance));
    for (const each of TOKENS) {
      const data = encodeFunctionData({ abi, functionName: "balanceOf", args: [account] });
      state.set(keyOf("balance", each, account), await view(each, data));
    }
  }
  for (const spender of SPENDERS) {
    for (const each of TOKENS) {
      const data = encodeFunctionData({ abi, functionName: "allowance", args: [wallet, spender] });
      state.set(keyOf("allowance", each, spender), await view(each, data));
    }
  }
  return state;
}

function differencesOf(before: State, after: State): State {
  return new Map([...after].filter(([key, value]) => value !== before.get(key)));
}

function announcedBy({ balanceChanges, permissionChanges }: Simulation): State {
  return new Map([
    ...balanceChanges.map(
      ({ contract, account, rawAfter }) => [keyOf("balance", contract, account), BigInt(rawAfter)] as const,
    ),
    ...permissionChanges.map(
      ({ contract, spender, rawAfter }) =>
        [keyOf("allowance", contract, spender), BigInt(rawAfter ?? 0)] as const,
    ),
  ]);
}

const amount = fc.bigInt({ min: 0n, max: 10n ** 7n });
const anyToken = fc.constantFrom(...TOKENS);
const plain = (functionName: "transfer" | "approve") =>
  fc.tuple(anyToken, fc.constantFrom(...SPENDERS), amount).map(
    ([to, account, value]): WalletCall => ({
      ...{ to, value: 0n },
      data: encodeFunctionData({ abi: plainTokenAbi, functionName, args: [account, value] }),
    }),
  );
const call = fc.oneof(
  plain("transfer"),
  plain("approve"),
  amount.map((value): WalletCall => ({ to: owner, value, data: "0x" })),
  amount.map((value): WalletCall => ({ to: ether, value, data: "0xd0e30db0" })),
  amount.map(
    (value): WalletCall => ({
      ...{ to: ether, value: 0n },
      data: encodeFunctionData({ abi: wrappedEtherAbi, functionName: "withdraw", args: [value] }),
    }),
  ),
  fc
    .tuple(fc.constantFrom("deposit", "redeem", "mint", "withdraw"), amount)
    .map(([functionName, value]): WalletCall => {
      const args =
        functionName === "redeem" || functionName === "withdraw" ? [value, wallet, wallet] : [value, wallet];
      return {
        to: vault,
        value: 0n,
        data: encodeFunctionData({ abi: vault4626Abi, functionName, args } as never),
      };
    }),
);

it("ends where the simulation says, to the unit, for random lists of transactions", {
  timeout: 600_000,
}, async () => {
  let changed = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 4 }), async (calls) => {
      const simulation = await simulate(calls);
      const before = await readState();
      let fees = 0n;
      for (const each of calls) fees += await send(each);
      const after = new Map(await readState());
      const native = keyOf("balance", null, wallet);
      after.set(native, (after.get(native) ?? 0n) + fees);
      expect(announcedBy(simulation)).toEqual(differencesOf(before, after));
      changed += simulation.balanceChanges.length;
    }),
    { numRuns: runsOf(500) },
  );
  expect(changed).toBeGreaterThan(0);
});
