// Solvers: one per operator, changed by that operator only; the bond grows at any time.
import { keccak256, parseEther, toHex, zeroAddress, zeroHash } from "viem";
import { describe, expect, it } from "vitest";
import { solverRegistryAbi as abi, solverRegistryBytecode } from "../generated/solver-registry.ts";
import { decodeEvents, expectBareRevert, expectRevert, startEvm } from "./evm.ts";
import { findPermissionlessFunctions } from "./permissionless-functions.ts";

const evm = await startEvm();
const { solver, owner, payer } = evm.chain.accounts;
const deploy = () => evm.deploy(abi, solverRegistryBytecode, []);
const capabilities = keccak256(toHex("swap"));
const otherCapabilities = keccak256(toHex("bridge"));
const bond = parseEther("2");

const record = {
  operator: solver.address,
  metadataURI: "ipfs://a",
  capabilitiesHash: capabilities,
  bond,
  fills: 0n,
  successfulFills: 0n,
  failedFills: 0n,
  active: true,
};

async function registered() {
  const registry = await deploy();
  await registry.send(solver.address, "registerSolver", ["ipfs://a", capabilities], bond);
  return registry;
}

describe("registerSolver", () => {
  it("counts ids from 1, starts active with the value sent as bond and empty counters", async () => {
    const registry = await deploy();
    const args = ["ipfs://a", capabilities] as const;
    expect(await registry.call(solver.address, "registerSolver", args, bond)).toBe(1n);
    expect(decodeEvents(await registry.send(solver.address, "registerSolver", args, bond), abi)).toEqual([
      {
        eventName: "SolverRegistered",
        args: {
          solverId: 1n,
          operator: solver.address,
          metadataURI: "ipfs://a",
          capabilitiesHash: capabilities,
          bond,
        },
      },
    ]);
    expect(await registry.read("getSolver", [1n])).toEqual(record);
  });

  it("registers a solver without bond and metadata, and finds it by its operator", async () => {
    const registry = await registered();
    const receipt = await registry.send(owner.address, "registerSolver", ["", zeroHash]);
    expect(decodeEvents(receipt, abi)).toMatchObject([{ args: { solverId: 2n, bond: 0n } }]);
    expect(await registry.read("getSolver", [2n])).toEqual({
      ...record,
      operator: owner.address,
      metadataURI: "",
      capabilitiesHash: zeroHash,
      bond: 0n,
    });
    expect(await registry.read("getSolverByOperator", [solver.address])).toBe(1n);
    expect(await registry.read("getSolverByOperator", [owner.address])).toBe(2n);
    expect(await registry.read("getSolverByOperator", [payer.address])).toBe(0n);
    expect(await registry.read("getSolverByOperator", [zeroAddress])).toBe(0n);
  });

  it("registers a solver once per operator, also after the operator went inactive", async () => {
    const registry = await registered();
    const again = () => registry.send(solver.address, "registerSolver", ["ipfs://b", capabilities], 1n);
    await expectRevert(again(), abi, "SolverAlreadyRegistered");
    await registry.send(solver.address, "updateSolver", [1n, "ipfs://a", capabilities, false]);
    await expectRevert(again(), abi, "SolverAlreadyRegistered");
  });
});

describe("updateSolver", () => {
  it("changes what it says and nothing else, and can switch off and on again", async () => {
    const registry = await registered();
    for (const active of [false, true]) {
      const update = [1n, "ipfs://b", otherCapabilities, active] as const;
      expect(decodeEvents(await registry.send(solver.address, "updateSolver", update), abi)).toEqual([
        {
          eventName: "SolverUpdated",
          args: { solverId: 1n, metadataURI: "ipfs://b", capabilitiesHash: otherCapabilities, active },
        },
      ]);
      const changed = { metadataURI: "ipfs://b", capabilitiesHash: otherCapabilities, active };
      expect(await registry.read("getSolver", [1n])).toEqual({ ...record, ...changed });
    }
  });
});

describe("addBond", () => {
  it("adds the value sent, whether the solver is active or not", async () => {
    const registry = await registered();
    const added = await registry.send(solver.address, "addBond", [1n], 5n);
    expect(decodeEvents(added, abi)).toEqual([
      { eventName: "SolverBondChanged", args: { solverId: 1n, bond: bond + 5n } },
    ]);
    await registry.send(solver.address, "updateSolver", [1n, "ipfs://a", capabilities, false]);
    const addedWhileInactive = await registry.send(solver.address, "addBond", [1n], 1n);
    expect(decodeEvents(addedWhileInactive, abi)).toEqual([
      { eventName: "SolverBondChanged", args: { solverId: 1n, bond: bond + 6n } },
    ]);
    const nothingAdded = await registry.send(solver.address, "addBond", [1n]);
    expect(decodeEvents(nothingAdded, abi)).toMatchObject([{ args: { bond: bond + 6n } }]);
    expect(await registry.read("getSolver", [1n])).toEqual({ ...record, bond: bond + 6n, active: false });
  });

  it("rejects plain transfers, and value on other functions than addBond", async () => {
    const registry = await registered();
    await expectBareRevert(evm.sendRaw(solver.address, registry.address, "0x", 1n));
    const update = [1n, "ipfs://a", capabilities, true] as const;
    await expectBareRevert(registry.send(solver.address, "updateSolver", update, 1n));
    await expectBareRevert(registry.send(solver.address, "withdrawBond", [1n, 0n], 1n));
  });
});

describe("every account but the operator", () => {
  it.each([
    ["the operator of another solver", owner.address],
    ["an unknown account", payer.address],
  ])("rejects changes to a solver by every account but its operator: %s", async (_, from) => {
    const registry = await registered();
    await registry.send(owner.address, "registerSolver", ["ipfs://b", capabilities], bond);
    await registry.send(solver.address, "updateSolver", [1n, "ipfs://a", capabilities, false]);
    const update = [1n, "ipfs://c", capabilities, true] as const;
    await expectRevert(registry.call(from, "updateSolver", update), abi, "Unauthorized");
    await expectRevert(registry.call(from, "addBond", [1n], 1n), abi, "Unauthorized");
    await expectRevert(registry.call(from, "withdrawBond", [1n, 1n]), abi, "Unauthorized");
  });

  it.each([0n, 2n, 2n ** 256n - 1n])("rejects changes to the unknown solver %s", async (solverId) => {
    const registry = await registered();
    await expectRevert(registry.read("getSolver", [solverId]), abi, "SolverNotFound");
    // A node simulates calls without a sender as the zero address, which must operate nothing.
    for (const from of [solver.address, zeroAddress]) {
      const update = [solverId, "ipfs://c", capabilities, true] as const;
      await expectRevert(registry.call(from, "updateSolver", update), abi, "SolverNotFound");
      await expectRevert(registry.call(from, "addBond", [solverId]), abi, "SolverNotFound");
      await expectRevert(registry.call(from, "withdrawBond", [solverId, 0n]), abi, "SolverNotFound");
    }
  });

  it("other accounts can register and change no other solver", async () => {
    const registry = await registered();
    await registry.send(solver.address, "updateSolver", [1n, "ipfs://a", capabilities, false]);
    const open = await findPermissionlessFunctions({
      evm,
      contract: registry,
      outsiders: [owner.address, payer.address],
      pool: {
        numbers: [0n, 1n, 2n, bond],
        addresses: [solver.address],
        words: [zeroHash, capabilities, otherCapabilities],
      },
      world: () =>
        Promise.all([
          registry.read("getSolver", [1n]),
          registry.read("getSolverByOperator", [solver.address]),
          evm.chain.request("eth_getBalance", [solver.address, "latest"]),
        ]),
      numRuns: 30,
    });
    expect(open).toEqual(["registerSolver"]);
  });
});
