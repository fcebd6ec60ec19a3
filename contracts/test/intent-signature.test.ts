// Signatures of intents: good for one owner, one book, one chain, every field, once.

import type { LocalAccount } from "@sextant/local-chain/accounts";
import fc from "fast-check";
import { type Address, type Hex, hexToBigInt, numberToHex } from "viem";
import { describe, expect, it } from "vitest";
import { runsOf } from "../../tests/support/test-depth.ts";
import { attestationRegistryAbi, attestationRegistryBytecode } from "../generated/attestation-registry.ts";
import { intentBookAbi as abi, intentBookBytecode } from "../generated/intent-book.ts";
import { type Intent, intentDigest, intentDomain } from "../hashes/intent-hash.ts";
import { decodeEvents, EVM_CHAIN_ID, expectRevert, GENESIS_TIMESTAMP, startEvm } from "./evm.ts";
import { makeIntent, signTestIntent, type TestSignedIntent } from "./signed-intent.ts";

const evm = await startEvm();
const { owner, agent, solver, payer } = evm.chain.accounts;
const attestations = await evm.deploy(attestationRegistryAbi, attestationRegistryBytecode, []);
const book = await evm.deploy(abi, intentBookBytecode, [attestations.address]);
const otherBook = await evm.deploy(abi, intentBookBytecode, [attestations.address]);
const chainId = BigInt(EVM_CHAIN_ID);
const domain = intentDomain(chainId, book.address);

/** The order of the curve: for every signature (r, s) the mirrored (r, n - s) recovers to the same key. */
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** A day after the start: no test takes that long. */
const FAR = GENESIS_TIMESTAMP + 86_400n;

const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const bytes32: fc.Arbitrary<Hex> = uint256.map((value) => numberToHex(value, { size: 32 }));
const address: fc.Arbitrary<Address> = fc
  .bigInt({ min: 0n, max: 2n ** 160n - 1n })
  .map((value) => numberToHex(value, { size: 20 }));
const signer = fc.constantFrom<LocalAccount>(owner, agent, solver);
const options = fc.record({
  amountInMax: uint256,
  amountOutMin: uint256,
  deadline: fc.bigInt({ min: FAR, max: 2n ** 256n - 1n }),
  slippageBps: fc.integer({ min: 0, max: 10_000 }),
  target: address,
  dataHash: bytes32,
  requiredAttestationSubject: bytes32,
  requiredAttestationSchema: bytes32,
  metadataURIHash: bytes32,
  inputToken: address,
  outputToken: address,
  nonce: uint256,
});

/** Every field a signature covers, each replaced by a valid but different value; the type has one value only. */
function mutationsOf(intent: Intent): readonly (readonly [field: string, intent: Intent])[] {
  const { constraints, execution } = intent;
  const nextBytes = <T extends Hex>(value: T) =>
    numberToHex(hexToBigInt(value) ^ 1n, { size: (value.length - 2) / 2 }) as T;
  // 2^256 - 1 has no successor, and a deadline must stay in the future: flip the lowest bit, or step down.
  const other = (value: bigint) => value ^ 1n;
  const slippageBps = constraints.slippageBps === 0 ? 1 : constraints.slippageBps - 1;
  const inConstraints = (change: Partial<Intent["constraints"]>): Intent => ({
    ...intent,
    constraints: { ...constraints, ...change },
  });
  const inExecution = (change: Partial<Intent["execution"]>): Intent => ({
    ...intent,
    execution: { ...execution, ...change },
  });
  return [
    ["owner", { ...intent, owner: payer.address }],
    ["amountInMax", inConstraints({ amountInMax: other(constraints.amountInMax) })],
    ["amountOutMin", inConstraints({ amountOutMin: other(constraints.amountOutMin) })],
    ["deadline", inConstraints({ deadline: other(constraints.deadline) })],
    ["slippageBps", inConstraints({ slippageBps })],
    ["target", inExecution({ target: nextBytes(execution.target) })],
    ["dataHash", inExecution({ dataHash: nextBytes(execution.dataHash) })],
    [
      "requiredAttestationSubject",
      inExecution({ requiredAttestationSubject: nextBytes(execution.requiredAttestationSubject) }),
    ],
    [
      "requiredAttestationSchema",
      inExecution({ requiredAttestationSchema: nextBytes(execution.requiredAttestationSchema) }),
    ],
    ["metadataURIHash", inExecution({ metadataURIHash: nextBytes(execution.metadataURIHash) })],
    ["inputToken", { ...intent, inputToken: nextBytes(intent.inputToken) }],
    ["outputToken", { ...intent, outputToken: nextBytes(intent.outputToken) }],
    ["nonce", { ...intent, nonce: other(intent.nonce) }],
  ];
}

const submit = (args: TestSignedIntent) => book.call(payer.address, "submitIntent", args);
const expectRejected = (args: TestSignedIntent) => expectRevert(submit(args), abi, "InvalidSignature");

describe("a signature", () => {
  it("the signature of an intent covers every field", async () => {
    await fc.assert(
      fc.asyncProperty(signer, options, async (account, fields) => {
        const intent = makeIntent(account.address, FAR, fields);
        const [, ...signature] = await signTestIntent(account.privateKey, intent, domain);
        expect(await submit([intent, ...signature])).toBe(1n);
        const mutations = mutationsOf(intent);
        expect(mutations).toHaveLength(13);
        for (const [field, mutated] of mutations) {
          expect(intentDigest(mutated, domain), field).not.toBe(intentDigest(intent, domain));
          await expectRejected([mutated, ...signature]);
        }
      }),
      { numRuns: runsOf(25) },
    );
  });

  it("accepts only the owner's signature, for this chain and this book", async () => {
    await fc.assert(
      fc.asyncProperty(
        signer,
        options,
        fc.bigInt({ min: 1n, max: 2n ** 64n }).filter((id) => id !== chainId),
        async (account, fields, otherChainId) => {
          const intent = makeIntent(account.address, FAR, fields);
          await expectRejected(await signTestIntent(payer.privateKey, intent, domain));
          for (const other of [
            intentDomain(otherChainId, book.address),
            intentDomain(chainId, otherBook.address),
            intentDomain(chainId, attestations.address),
          ]) {
            await expectRejected(await signTestIntent(account.privateKey, intent, other));
          }
          const forBook = await signTestIntent(account.privateKey, intent, domain);
          await expectRevert(otherBook.call(payer.address, "submitIntent", forBook), abi, "InvalidSignature");
        },
      ),
      { numRuns: runsOf(25) },
    );
  });

  it("rejects a signature with a mirrored s, another recovery id or a changed bit", async () => {
    await fc.assert(
      fc.asyncProperty(
        signer,
        options,
        fc.integer({ min: 0, max: 255 }),
        fc.integer({ min: 0, max: 255 }),
        async (account, fields, bit, recoveryId) => {
          const intent = makeIntent(account.address, FAR, fields);
          const [, v, r, s] = await signTestIntent(account.privateKey, intent, domain);
          const mirrored = numberToHex(CURVE_ORDER - hexToBigInt(s), { size: 32 });
          const flip = (word: Hex) => numberToHex(hexToBigInt(word) ^ (1n << BigInt(bit)), { size: 32 });
          await expectRejected([intent, v === 27 ? 28 : 27, r, mirrored]);
          await expectRejected([intent, v, r, mirrored]);
          await expectRejected([intent, v - 27, r, s]);
          await expectRejected([intent, recoveryId === v ? 0 : recoveryId, r, s]);
          await expectRejected([intent, v, flip(r), s]);
          await expectRejected([intent, v, r, flip(s)]);
          await expectRejected([intent, v, s, r]);
        },
      ),
      { numRuns: runsOf(25) },
    );
  });
});

describe("a nonce", () => {
  it("a nonce works once per owner, in any order", async () => {
    const use = fc.record({
      account: signer,
      nonce: fc.oneof(fc.bigInt({ min: 0n, max: 3n }), fc.constant(2n ** 256n - 1n)),
      relayer: fc.constantFrom(payer.address, owner.address),
      amountInMax: fc.bigInt({ min: 0n, max: 2n }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(use, { maxLength: 20 }), (uses) =>
        evm.undone(async () => {
          const used = new Set<string>();
          let lastIntentId = 0n;
          for (const { account, nonce, relayer, amountInMax } of uses) {
            const intent = makeIntent(account.address, FAR, { nonce, amountInMax });
            const args = await signTestIntent(account.privateKey, intent, domain);
            const key = `${account.address} ${nonce}`;
            const sent = book.send(relayer, "submitIntent", args);
            if (used.has(key)) {
              await expectRevert(sent, abi, "InvalidNonce");
              continue;
            }
            used.add(key);
            lastIntentId += 1n;
            const event = { intentId: lastIntentId, owner: account.address, nonce };
            expect(decodeEvents(await sent, abi)).toEqual([{ eventName: "IntentSubmitted", args: event }]);
          }
        }),
      ),
      { numRuns: runsOf(20) },
    );
  });
});
