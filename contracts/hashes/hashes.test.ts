// Proves that the hashes computed here are the published ones, and that every field counts.
import fc from "fast-check";
import { type Hex, hashStruct, keccak256, stringToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import {
  intentTypeHashes,
  intentVector,
  quoteVector,
  sessionVector,
  settlementVector,
} from "../interface/hash-vectors.ts";
import { type Intent, intentDigest, intentDomain, intentStructHash, intentTypes } from "./intent-hash.ts";
import { quoteHash } from "./quote-hash.ts";
import { sessionDigest, sessionHash } from "./session-digest.ts";
import { settlementExecutionHash } from "./settlement-hash.ts";

const signer = privateKeyToAccount(keccak256(stringToHex("hashes test")));

function encodeType(name: keyof typeof intentTypes): string {
  return `${name}(${intentTypes[name].map((field) => `${field.type} ${field.name}`).join(",")})`;
}

function typeHash(...names: (keyof typeof intentTypes)[]): Hex {
  return keccak256(stringToHex(names.map(encodeType).join("")));
}

describe("intent", () => {
  it("an intent has the published type hashes", () => {
    const domainType = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";
    expect({
      Constraints: typeHash("Constraints"),
      ExecutionRequirements: typeHash("ExecutionRequirements"),
      Intent: typeHash("Intent", "Constraints", "ExecutionRequirements"),
      EIP712Domain: keccak256(stringToHex(domainType)),
    }).toEqual(intentTypeHashes);
  });

  it("an intent has the published struct hash and digest", () => {
    const { intent, chainId, intentBook, structHash, digest } = intentVector;
    expect(intentStructHash(intent)).toBe(structHash);
    expect(intentDigest(intent, intentDomain(chainId, intentBook))).toBe(digest);
  });

  it("the digest of an intent is what a wallet signs", async () => {
    const { intent, chainId, intentBook } = intentVector;
    const domain = intentDomain(chainId, intentBook);
    const typed = await signer.signTypedData({
      domain,
      types: intentTypes,
      primaryType: "Intent",
      message: intent,
    });
    expect(typed).toBe(await signer.sign({ hash: intentDigest(intent, domain) }));
  });

  it("hashes any intent as EIP-712 says", () => {
    const uint = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
    const hex = (bytes: number) =>
      fc
        .uint8Array({ minLength: bytes, maxLength: bytes })
        .map((some): Hex => `0x${Buffer.from(some).toString("hex")}`);
    const intents: fc.Arbitrary<Intent> = fc.record({
      owner: hex(20),
      intentType: fc.integer({ min: 0, max: 255 }),
      constraints: fc.record({
        amountInMax: uint,
        amountOutMin: uint,
        deadline: uint,
        slippageBps: fc.integer({ min: 0, max: 65_535 }),
      }),
      execution: fc.record({
        target: hex(20),
        dataHash: hex(32),
        requiredAttestationSubject: hex(32),
        requiredAttestationSchema: hex(32),
        metadataURIHash: hex(32),
      }),
      inputToken: hex(20),
      outputToken: hex(20),
      nonce: uint,
    });
    fc.assert(
      fc.property(intents, (data) => {
        expect(intentStructHash(data)).toBe(hashStruct({ types: intentTypes, primaryType: "Intent", data }));
      }),
      { numRuns: 50 },
    );
  });

  it("the hash of an intent changes with every number in it", () => {
    const plain: Intent = intentVector.intent;
    const bounds = plain.constraints;
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 128n }), (shift) => {
        const variants: Intent[] = [
          { ...plain, nonce: plain.nonce + shift },
          { ...plain, constraints: { ...bounds, amountInMax: bounds.amountInMax + shift } },
          { ...plain, constraints: { ...bounds, amountOutMin: bounds.amountOutMin + shift } },
          { ...plain, constraints: { ...bounds, deadline: bounds.deadline + shift } },
        ];
        const hashes = new Set([plain, ...variants].map(intentStructHash));
        expect(hashes.size).toBe(variants.length + 1);
      }),
      { numRuns: 20 },
    );
  });
});

describe("quote", () => {
  it("a quote has the published hash", () => {
    const { quote, chainId, commerceRegistry, quoteHash: published } = quoteVector;
    expect(quoteHash(quote, chainId, commerceRegistry)).toBe(published);
  });

  it("the hash of a quote is bound to its chain and registry", () => {
    const { quote, chainId, commerceRegistry, quoteHash: published } = quoteVector;
    expect(quoteHash(quote, chainId + 1n, commerceRegistry)).not.toBe(published);
    expect(quoteHash(quote, chainId, quote.agent)).not.toBe(published);
  });
});

describe("settlement", () => {
  it("a settlement has the published hash", () => {
    const { instruction, chainId, settlementAdapter, executionHash } = settlementVector;
    expect(settlementExecutionHash(instruction, chainId, settlementAdapter)).toBe(executionHash);
  });

  it("the hash of a settlement depends on the order of its lines", () => {
    const { instruction, chainId, settlementAdapter } = settlementVector;
    const [line] = instruction.lines;
    const other = { ...line, kind: 3 };
    const forth = { ...instruction, lines: [line, other] };
    const back = { ...instruction, lines: [other, line] };
    const hashOf = (one: typeof forth) => settlementExecutionHash(one, chainId, settlementAdapter);
    expect(hashOf(forth)).not.toBe(hashOf(back));
  });
});

describe("session", () => {
  it("a session has the published digest", () => {
    const { call, chainId, account, digest } = sessionVector;
    expect(sessionDigest(call, chainId, account)).toBe(digest);
  });

  it("the digest of a session is what a wallet signs as a personal message", async () => {
    const { call, chainId, account, digest } = sessionVector;
    const message = { raw: sessionHash(call, chainId, account) };
    expect(await signer.signMessage({ message })).toBe(await signer.sign({ hash: digest }));
  });
});
