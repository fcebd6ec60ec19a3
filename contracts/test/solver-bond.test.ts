// Bonds: paid back to inactive solvers only, never more than they put up, whatever the receiver does meanwhile.
import fc from "fast-check";
import {
  type Address,
  concatHex,
  encodeFunctionData,
  type Hex,
  numberToHex,
  pad,
  slice,
  zeroHash,
} from "viem";
import { describe, expect, it } from "vitest";
import { solverRegistryAbi as abi, solverRegistryBytecode } from "../generated/solver-registry.ts";
import { decodeEvents, expectRevert, startEvm } from "./evm.ts";

const evm = await startEvm();
const { solver, owner, agent } = evm.chain.accounts;
const deploy = () => evm.deploy(abi, solverRegistryBytecode, []);
type Registry = Awaited<ReturnType<typeof deploy>>;

async function balanceOf(address: Address): Promise<bigint> {
  return BigInt((await evm.chain.request("eth_getBalance", [address, "latest"])) as string);
}

/** A solver with a bond and inactive, so that only the rule under test stands in the way. */
async function registerInactive(registry: Registry, operator: Address, bond: bigint): Promise<bigint> {
  const solverId = await registry.call(operator, "registerSolver", ["", zeroHash], bond);
  await registry.send(operator, "registerSolver", ["", zeroHash], bond);
  await registry.send(operator, "updateSolver", [solverId, "", zeroHash, false]);
  return solverId;
}

/** A contract that operates a solver: it has code for what happens when ether arrives, and sends as if it were a key. */
async function operatorWithCode(address: Address, runtimeBytecode: Hex): Promise<Address> {
  await evm.chain.request("hardhat_impersonateAccount", [address]);
  await evm.chain.request("hardhat_setBalance", [address, numberToHex(1_000n)]);
  await evm.chain.setCode(address, runtimeBytecode);
  return address;
}

/** PUSH0 PUSH0 REVERT */
const REJECTS_ETHER: Hex = "0x5f5ffd";

/** Code that, whenever ether arrives, calls `target` with 68 bytes and writes 1 + success into the slot of the call's depth. */
function callsBack(target: Address, calldata: Hex): Hex {
  const words = [slice(calldata, 0, 32), slice(calldata, 32, 64), slice(calldata, 64, 68)];
  const stored = words.map((word, index) =>
    concatHex([
      "0x7f",
      pad(word, { dir: "right", size: 32 }),
      "0x60",
      numberToHex(index * 32, { size: 1 }),
      "0x52",
    ]),
  );
  return concatHex([
    ...stored,
    // Slot 0 counts the arrivals: SLOAD(0) + 1, left on the stack and stored.
    "0x5f5460010180",
    "0x5f55",
    // CALL(gas, target, 0, 0, 68, 0, 0)
    "0x5f5f60445f5f73",
    target,
    "0x5af1",
    // SSTORE(arrival, 1 + success)
    "0x6001019055",
    "0x00",
  ]);
}

async function storedAt(address: Address, slot: number): Promise<bigint> {
  const word = await evm.chain.request("eth_getStorageAt", [address, numberToHex(slot), "latest"]);
  return BigInt(word as string);
}

describe("withdrawBond", () => {
  it("pays the operator in parts until nothing is left", async () => {
    const registry = await deploy();
    await registerInactive(registry, solver.address, 10n);
    const before = await balanceOf(solver.address);
    const first = await registry.send(solver.address, "withdrawBond", [1n, 4n]);
    expect(decodeEvents(first, abi)).toEqual([
      { eventName: "SolverBondChanged", args: { solverId: 1n, bond: 6n } },
    ]);
    expect(await balanceOf(solver.address)).toBe(before + 4n);
    const rest = await registry.send(solver.address, "withdrawBond", [1n, 6n]);
    expect(decodeEvents(rest, abi)).toEqual([
      { eventName: "SolverBondChanged", args: { solverId: 1n, bond: 0n } },
    ]);
    expect(await balanceOf(solver.address)).toBe(before + 10n);
    expect(await balanceOf(registry.address)).toBe(0n);
    expect(await registry.read("getSolver", [1n])).toMatchObject({ bond: 0n, active: false });
  });

  it("withdrawBond accepts zero as an amount", async () => {
    const registry = await deploy();
    await registerInactive(registry, solver.address, 10n);
    const receipt = await registry.send(solver.address, "withdrawBond", [1n, 0n]);
    expect(decodeEvents(receipt, abi)).toMatchObject([{ args: { bond: 10n } }]);
  });

  it("rejects an active solver, and works again once it is inactive", async () => {
    const registry = await deploy();
    await registry.send(solver.address, "registerSolver", ["", zeroHash], 10n);
    const withdraw = () => registry.send(solver.address, "withdrawBond", [1n, 1n]);
    await expectRevert(withdraw(), abi, "SolverInactive");
    await registry.send(solver.address, "updateSolver", [1n, "", zeroHash, false]);
    await withdraw();
    await registry.send(solver.address, "updateSolver", [1n, "", zeroHash, true]);
    await expectRevert(withdraw(), abi, "SolverInactive");
  });

  it("rejects more than the bond, even when other bonds would cover it", async () => {
    const registry = await deploy();
    await registerInactive(registry, solver.address, 10n);
    await registerInactive(registry, owner.address, 1_000n);
    for (const amount of [11n, 2n ** 256n - 1n]) {
      const withdraw = registry.send(solver.address, "withdrawBond", [1n, amount]);
      await expectRevert(withdraw, abi, "InsufficientBond", [10n, amount]);
    }
  });

  it("leaves the bond in place when the receiver rejects the ether", async () => {
    const registry = await deploy();
    const operator = await operatorWithCode(`0x${"a1".repeat(20)}`, REJECTS_ETHER);
    await registerInactive(registry, operator, 10n);
    await expectRevert(registry.send(operator, "withdrawBond", [1n, 10n]), abi, "Error", [
      "BOND_WITHDRAW_FAILED",
    ]);
    expect(await registry.read("getSolver", [1n])).toMatchObject({ bond: 10n });
    expect(await balanceOf(registry.address)).toBe(10n);
  });
});

describe("a receiver that calls back", () => {
  it.each([
    { amount: 10n, arrivals: 1n, paid: 10n },
    // Ten allow two withdrawals of four: the third is rejected and takes nothing back from the others.
    { amount: 4n, arrivals: 2n, paid: 8n },
  ])("gets at most its bond when it withdraws $amount repeatedly", async ({ amount, arrivals, paid }) => {
    const registry = await deploy();
    await registerInactive(registry, owner.address, 1_000n);
    const calldata = encodeFunctionData({ abi, functionName: "withdrawBond", args: [2n, amount] });
    const operator = await operatorWithCode(
      `0x${"b2".repeat(19)}${amount === 4n ? "04" : "10"}`,
      callsBack(registry.address, calldata),
    );
    expect(await registerInactive(registry, operator, 10n)).toBe(2n);

    const receipt = await registry.send(operator, "withdrawBond", [2n, amount]);

    // The last event carries the bond that is left.
    expect(decodeEvents(receipt, abi)).toEqual(
      (amount === 4n ? [6n, 2n] : [0n]).map((bond) => ({
        eventName: "SolverBondChanged",
        args: { solverId: 2n, bond },
      })),
    );
    expect(await storedAt(operator, 0)).toBe(arrivals);
    // 1 is a rejected call back, 2 one that went through.
    expect(await storedAt(operator, Number(arrivals))).toBe(1n);
    if (arrivals > 1n) expect(await storedAt(operator, 1)).toBe(2n);
    expect(await registry.read("getSolver", [2n])).toMatchObject({ bond: 10n - paid });
    expect(await balanceOf(operator)).toBe(1_000n - 10n + paid);
    expect(await balanceOf(registry.address)).toBe(1_000n + 10n - paid);
  });
});

type Action =
  | { readonly kind: "add" | "withdraw"; readonly who: number; readonly amount: bigint }
  | { readonly kind: "switch"; readonly who: number; readonly active: boolean };

const operators = [solver.address, owner.address, agent.address];
const who = fc.nat({ max: operators.length - 1 });
const amount = fc.bigInt({ min: 0n, max: 12n });
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ kind: fc.constantFrom("add" as const, "withdraw" as const), who, amount }),
  fc.record({ kind: fc.constant("switch" as const), who, active: fc.boolean() }),
);

describe("bonds", () => {
  it("bonds add up to the registry's balance, and each is what its operator left in it", async () => {
    const registry = await deploy();
    for (const operator of operators) await registry.send(operator, "registerSolver", ["", zeroHash], 10n);

    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 20 }), (actions) =>
        evm.undone(async () => {
          const model = operators.map(() => ({ bond: 10n, active: true }));
          for (const step of actions) {
            const state = model[step.who];
            const operator = operators[step.who];
            if (!state || !operator) throw new Error("No such operator");
            const id = BigInt(step.who + 1);
            if (step.kind === "switch") {
              await registry.send(operator, "updateSolver", [id, "", zeroHash, step.active]);
              state.active = step.active;
            } else if (step.kind === "add") {
              await registry.send(operator, "addBond", [id], step.amount);
              state.bond += step.amount;
            } else {
              const withdraw = registry.send(operator, "withdrawBond", [id, step.amount]);
              if (state.active) await expectRevert(withdraw, abi, "SolverInactive");
              else if (step.amount > state.bond) {
                await expectRevert(withdraw, abi, "InsufficientBond", [state.bond, step.amount]);
              } else {
                await withdraw;
                state.bond -= step.amount;
              }
            }
          }
          for (const [index, state] of model.entries()) {
            expect(await registry.read("getSolver", [BigInt(index + 1)])).toMatchObject(state);
          }
          const total = model.reduce((sum, { bond }) => sum + bond, 0n);
          expect(await balanceOf(registry.address)).toBe(total);
        }),
      ),
      { numRuns: 40 },
    );
  });
});
