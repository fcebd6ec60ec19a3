// Attestations: anybody may vouch, only the attester may take it back, once.
import { keccak256, toHex, zeroAddress, zeroHash } from "viem";
import { describe, expect, it } from "vitest";
import {
  attestationRegistryAbi as abi,
  attestationRegistryBytecode,
} from "../generated/attestation-registry.ts";
import { decodeEvents, expectRevert, startEvm } from "./evm.ts";
import { findPermissionlessFunctions } from "./permissionless-functions.ts";

const evm = await startEvm();
const { attestor, owner, payer } = evm.chain.accounts;
const deploy = () => evm.deploy(abi, attestationRegistryBytecode, []);
const schema = keccak256(toHex("identity"));
const subject = keccak256(toHex("agent 1"));
const otherSubject = keccak256(toHex("agent 2"));
const dataHash = keccak256(toHex("evidence"));

describe("submitAttestation", () => {
  it("counts ids from 1 and stores who, what and when", async () => {
    const registry = await deploy();
    const time = (await evm.now()) + 1_000n;
    const args = [schema, subject, dataHash] as const;
    expect(await registry.call(attestor.address, "submitAttestation", args)).toBe(1n);
    await evm.chain.setNextBlockTimestamp(time);
    expect(decodeEvents(await registry.send(attestor.address, "submitAttestation", args), abi)).toEqual([
      { eventName: "AttestationSubmitted", args: { id: 1n, attester: attestor.address, schema, subject } },
    ]);
    expect(await registry.read("getAttestation", [1n])).toEqual({
      attester: attestor.address,
      schema,
      subject,
      dataHash,
      timestamp: time,
      revoked: false,
    });
  });

  it("accepts equal attestations and zero words, as attestations of their own", async () => {
    const registry = await deploy();
    await registry.send(attestor.address, "submitAttestation", [schema, subject, dataHash]);
    await registry.send(attestor.address, "submitAttestation", [schema, otherSubject, dataHash]);
    await registry.send(owner.address, "submitAttestation", [schema, subject, dataHash]);
    await registry.send(owner.address, "submitAttestation", [zeroHash, zeroHash, zeroHash]);
    await registry.send(attestor.address, "revokeAttestation", [1n]);
    expect(await registry.read("getAttestationsBySubject", [subject])).toEqual([1n, 3n]);
    expect(await registry.read("getAttestationsBySubject", [otherSubject])).toEqual([2n]);
    expect(await registry.read("getAttestationsBySubject", [zeroHash])).toEqual([4n]);
    expect(await registry.read("getAttestationsBySubject", [schema])).toEqual([]);
    expect(await registry.read("getAttestation", [4n])).toMatchObject({
      subject: zeroHash,
      schema: zeroHash,
    });
  });
});

describe("revokeAttestation", () => {
  it("marks an attestation revoked, keeps everything else, and works once", async () => {
    const registry = await deploy();
    await registry.send(attestor.address, "submitAttestation", [schema, subject, dataHash]);
    const before = await registry.read("getAttestation", [1n]);
    const receipt = await registry.send(attestor.address, "revokeAttestation", [1n]);
    expect(decodeEvents(receipt, abi)).toEqual([{ eventName: "AttestationRevoked", args: { id: 1n } }]);
    expect(await registry.read("getAttestation", [1n])).toEqual({ ...before, revoked: true });
    await expectRevert(registry.send(attestor.address, "revokeAttestation", [1n]), abi, "AlreadyRevoked");
    await expectRevert(registry.call(payer.address, "revokeAttestation", [1n]), abi, "Unauthorized");
  });

  it("rejects a revocation by every account but the attester, also that of another one", async () => {
    const registry = await deploy();
    await registry.send(attestor.address, "submitAttestation", [schema, subject, dataHash]);
    await registry.send(owner.address, "submitAttestation", [schema, subject, dataHash]);
    for (const from of [owner.address, payer.address]) {
      await expectRevert(registry.call(from, "revokeAttestation", [1n]), abi, "Unauthorized");
    }
  });

  it.each([0n, 2n, 2n ** 256n - 1n])("revokeAttestation rejects the unknown attestation %s", async (id) => {
    const registry = await deploy();
    await registry.send(attestor.address, "submitAttestation", [schema, subject, dataHash]);
    await expectRevert(registry.read("getAttestation", [id]), abi, "AttestationNotFound");
    // The zero address, as which a node simulates calls without a sender, is not an attester either.
    for (const from of [attestor.address, zeroAddress]) {
      await expectRevert(registry.call(from, "revokeAttestation", [id]), abi, "AttestationNotFound");
    }
  });
});

describe("outsiders", () => {
  it("other accounts can attest in their own name and change no other attestation", async () => {
    const registry = await deploy();
    await registry.send(attestor.address, "submitAttestation", [schema, subject, dataHash]);
    await registry.send(attestor.address, "submitAttestation", [schema, subject, dataHash]);
    await registry.send(attestor.address, "revokeAttestation", [2n]);
    const open = await findPermissionlessFunctions({
      evm,
      contract: registry,
      outsiders: [owner.address, payer.address],
      pool: {
        numbers: [0n, 1n, 2n, 3n],
        addresses: [attestor.address],
        words: [zeroHash, schema, subject, otherSubject],
      },
      world: async () => ({
        records: await Promise.all([
          registry.read("getAttestation", [1n]),
          registry.read("getAttestation", [2n]),
        ]),
        // Outsiders may add to the list, never take from it.
        listed: (await registry.read("getAttestationsBySubject", [subject])).slice(0, 2),
      }),
      numRuns: 30,
    });
    expect(open).toEqual(["submitAttestation"]);
  });
});
