// Attestors: one per operator, changed by that operator only.
import { keccak256, toHex, zeroAddress, zeroHash } from "viem";
import { describe, expect, it } from "vitest";
import { attestorRegistryAbi as abi, attestorRegistryBytecode } from "../generated/attestor-registry.ts";
import { decodeEvents, expectRevert, startEvm } from "./evm.ts";
import { findPermissionlessFunctions } from "./permissionless-functions.ts";

const evm = await startEvm();
const { attestor, owner, payer } = evm.chain.accounts;
const deploy = () => evm.deploy(abi, attestorRegistryBytecode, []);
const schemas = keccak256(toHex("identity,audit"));
const otherSchemas = keccak256(toHex("audit"));

describe("registerAttestor", () => {
  it("counts ids from 1, starts active with empty counters, and is found by its operator", async () => {
    const registry = await deploy();
    expect(await registry.call(attestor.address, "registerAttestor", ["ipfs://a", schemas])).toBe(1n);
    const receipt = await registry.send(attestor.address, "registerAttestor", ["ipfs://a", schemas]);
    expect(decodeEvents(receipt, abi)).toEqual([
      {
        eventName: "AttestorRegistered",
        args: {
          attestorId: 1n,
          operator: attestor.address,
          metadataURI: "ipfs://a",
          schemasHash: schemas,
        },
      },
    ]);
    expect(await registry.read("getAttestor", [1n])).toEqual({
      operator: attestor.address,
      metadataURI: "ipfs://a",
      schemasHash: schemas,
      attestations: 0n,
      revokedAttestations: 0n,
      active: true,
    });
    await registry.send(owner.address, "registerAttestor", ["", zeroHash]);
    expect(await registry.read("getAttestorByOperator", [attestor.address])).toBe(1n);
    expect(await registry.read("getAttestorByOperator", [owner.address])).toBe(2n);
    expect(await registry.read("getAttestorByOperator", [payer.address])).toBe(0n);
    expect(await registry.read("getAttestorByOperator", [zeroAddress])).toBe(0n);
  });

  it("registers an attestor once per operator, also after the operator went inactive", async () => {
    const registry = await deploy();
    const again = () => registry.send(attestor.address, "registerAttestor", ["ipfs://b", schemas]);
    await registry.send(attestor.address, "registerAttestor", ["ipfs://a", schemas]);
    await expectRevert(again(), abi, "AttestorAlreadyRegistered");
    await registry.send(attestor.address, "updateAttestor", [1n, "ipfs://a", schemas, false]);
    await expectRevert(again(), abi, "AttestorAlreadyRegistered");
  });
});

describe("updateAttestor", () => {
  it("changes what it says and nothing else, and can switch off and on again", async () => {
    const registry = await deploy();
    await registry.send(attestor.address, "registerAttestor", ["ipfs://a", schemas]);
    for (const active of [false, true]) {
      const update = [1n, "ipfs://b", otherSchemas, active] as const;
      expect(decodeEvents(await registry.send(attestor.address, "updateAttestor", update), abi)).toEqual([
        {
          eventName: "AttestorUpdated",
          args: { attestorId: 1n, metadataURI: "ipfs://b", schemasHash: otherSchemas, active },
        },
      ]);
      expect(await registry.read("getAttestor", [1n])).toEqual({
        operator: attestor.address,
        metadataURI: "ipfs://b",
        schemasHash: otherSchemas,
        attestations: 0n,
        revokedAttestations: 0n,
        active,
      });
    }
  });

  it("rejects updates by every account but the operator, also that of another attestor", async () => {
    const registry = await deploy();
    await registry.send(attestor.address, "registerAttestor", ["ipfs://a", schemas]);
    await registry.send(owner.address, "registerAttestor", ["ipfs://b", schemas]);
    for (const from of [owner.address, payer.address]) {
      const update = [1n, "ipfs://c", schemas, false] as const;
      await expectRevert(registry.call(from, "updateAttestor", update), abi, "Unauthorized");
    }
  });

  it.each([0n, 2n, 2n ** 256n - 1n])("updateAttestor rejects the unknown attestor %s", async (attestorId) => {
    const registry = await deploy();
    await registry.send(attestor.address, "registerAttestor", ["ipfs://a", schemas]);
    const update = [attestorId, "ipfs://c", schemas, true] as const;
    await expectRevert(registry.read("getAttestor", [attestorId]), abi, "AttestorNotFound");
    await expectRevert(registry.call(attestor.address, "updateAttestor", update), abi, "AttestorNotFound");
    // A node simulates calls without a sender as the zero address, which must operate nothing.
    await expectRevert(registry.call(zeroAddress, "updateAttestor", update), abi, "AttestorNotFound");
  });
});

describe("outsiders", () => {
  it("other accounts can register themselves and change no other attestor", async () => {
    const registry = await deploy();
    await registry.send(attestor.address, "registerAttestor", ["ipfs://a", schemas]);
    const open = await findPermissionlessFunctions({
      evm,
      contract: registry,
      outsiders: [owner.address, payer.address],
      pool: {
        numbers: [0n, 1n, 2n],
        addresses: [attestor.address],
        words: [zeroHash, schemas, otherSchemas],
      },
      world: () =>
        Promise.all([
          registry.read("getAttestor", [1n]),
          registry.read("getAttestorByOperator", [attestor.address]),
        ]),
      numRuns: 30,
    });
    expect(open).toEqual(["registerAttestor"]);
  });
});
