// Intents: signed by their owner, submitted by anybody, withdrawn by the owner only.

import type { LocalAccount } from "@sextant/local-chain/accounts";
import { maxUint256, zeroAddress, zeroHash } from "viem";
import { describe, expect, it } from "vitest";
import { runsOf } from "../../tests/support/test-depth.ts";
import { attestationRegistryAbi, attestationRegistryBytecode } from "../generated/attestation-registry.ts";
import { intentBookAbi as abi, intentBookBytecode } from "../generated/intent-book.ts";
import { intentDomain } from "../hashes/intent-hash.ts";
import { decodeEvents, EVM_CHAIN_ID, expectBareRevert, expectRevert, startEvm } from "./evm.ts";
import { findPermissionlessFunctions } from "./permissionless-functions.ts";
import { type IntentOptions, makeIntent, signTestIntent } from "./signed-intent.ts";

const evm = await startEvm();
const { owner, agent, solver, payer } = evm.chain.accounts;
const attestations = await evm.deploy(attestationRegistryAbi, attestationRegistryBytecode, []);
const deploy = () => evm.deploy(abi, intentBookBytecode, [attestations.address]);
type Book = Awaited<ReturnType<typeof deploy>>;
const word = (byte: string) => `0x${byte.repeat(32)}` as const;

async function signed(book: Book, account: LocalAccount, options: IntentOptions = {}) {
  const intent = makeIntent(account.address, (await evm.now()) + 1_000n, options);
  return signTestIntent(account.privateKey, intent, intentDomain(BigInt(EVM_CHAIN_ID), book.address));
}

describe("the book", () => {
  it("names its attestation registry and its signing domain", async () => {
    const book = await deploy();
    expect(await book.read("attestationRegistry", [])).toBe(attestations.address);
    expect(await book.read("eip712Domain", [])).toEqual([
      "0x0f",
      "AgentIntentBook",
      "1",
      BigInt(EVM_CHAIN_ID),
      book.address,
      zeroHash,
      [],
    ]);
  });

  it.each([zeroAddress, payer.address])(
    "rejects the deployment of an intent book with %s as its registry",
    async (registry) => {
      const deployment = evm.deploy(abi, intentBookBytecode, [registry]);
      await expectRevert(deployment, abi, "InvalidAttestationRegistry", [registry]);
    },
  );

  it("returns empty values for an unknown intent", async () => {
    const book = await deploy();
    const none = {
      ...makeIntent(zeroAddress, 0n, { amountInMax: 0n, amountOutMin: 0n, slippageBps: 0 }),
      inputToken: zeroAddress,
      outputToken: zeroAddress,
    };
    for (const intentId of [0n, 1n, maxUint256]) {
      expect(await book.read("getIntent", [intentId])).toEqual(none);
      expect(await book.read("getIntentStatus", [intentId])).toBe(0);
      expect(await book.read("getSelectedBid", [intentId])).toBe(0n);
      await expectRevert(book.read("getBid", [intentId, 1n]), abi, "BidNotFound");
    }
  });
});

describe("submitIntent", () => {
  it("counts ids from 1, takes any relayer and stores every field", async () => {
    const book = await deploy();
    const everything = {
      target: `0x${"22".repeat(20)}`,
      dataHash: word("33"),
      requiredAttestationSubject: word("44"),
      requiredAttestationSchema: word("55"),
      metadataURIHash: word("66"),
      nonce: 7n,
    } as const;
    const first = await signed(book, owner, everything);
    expect(await book.call(payer.address, "submitIntent", first)).toBe(1n);
    expect(decodeEvents(await book.send(payer.address, "submitIntent", first), abi)).toEqual([
      { eventName: "IntentSubmitted", args: { intentId: 1n, owner: owner.address, nonce: 7n } },
    ]);
    const second = await signed(book, agent);
    expect(decodeEvents(await book.send(agent.address, "submitIntent", second), abi)).toEqual([
      { eventName: "IntentSubmitted", args: { intentId: 2n, owner: agent.address, nonce: 0n } },
    ]);
    expect(await book.read("getIntent", [1n])).toEqual(first[0]);
    expect(await book.read("getIntent", [2n])).toEqual(second[0]);
    expect(await book.read("getIntentStatus", [1n])).toBe(0);
    expect(await book.read("getSelectedBid", [1n])).toBe(0n);
  });

  it("submitIntent takes slippage up to the whole", async () => {
    const book = await deploy();
    await book.call(owner.address, "submitIntent", await signed(book, owner, { slippageBps: 10_000 }));
    for (const slippageBps of [10_001, 65_535]) {
      const submit = book.call(owner.address, "submitIntent", await signed(book, owner, { slippageBps }));
      await expectRevert(submit, abi, "InvalidSlippage");
    }
  });

  it("submitIntent takes a deadline in the future only", async () => {
    const book = await deploy();
    const now = (await evm.now()) + 10n;
    for (const deadline of [0n, now - 1n, now]) {
      const late = await signed(book, owner, { deadline });
      await evm.chain.setNextBlockTimestamp(now);
      await expectRevert(book.call(owner.address, "submitIntent", late), abi, "InvalidDeadline");
    }
    await evm.chain.setNextBlockTimestamp(now);
    const inTime = await signed(book, owner, { deadline: now + 1n });
    const receipt = await book.send(owner.address, "submitIntent", inTime);
    expect(decodeEvents(receipt, abi)).toHaveLength(1);
    expect(await evm.now()).toBe(now);
  });

  it("an intent uses a nonce up for its owner only, even if it is cancelled", async () => {
    const book = await deploy();
    const first = await signed(book, owner, { nonce: maxUint256 });
    await book.send(payer.address, "submitIntent", first);
    await expectRevert(book.send(payer.address, "submitIntent", first), abi, "InvalidNonce");
    await book.send(owner.address, "cancelIntent", [1n]);
    const another = await signed(book, owner, { nonce: maxUint256, amountInMax: 1n });
    await expectRevert(book.call(owner.address, "submitIntent", another), abi, "InvalidNonce");
    await book.send(agent.address, "submitIntent", await signed(book, agent, { nonce: maxUint256 }));
    await book.send(owner.address, "submitIntent", await signed(book, owner, { nonce: 0n }));
  });

  it("submitIntent knows one intent type", async () => {
    const book = await deploy();
    const unknown = await signed(book, owner, { intentType: 1 });
    await expectBareRevert(book.call(owner.address, "submitIntent", unknown));
  });

  it("rejects an owner without a key", async () => {
    const book = await deploy();
    const intent = makeIntent(zeroAddress, (await evm.now()) + 1_000n);
    // ecrecover returns the zero address for these.
    for (const [v, r, s] of [
      [27, zeroHash, zeroHash],
      [0, word("11"), word("11")],
      [29, word("11"), word("11")],
    ] as const) {
      const submit = book.call(owner.address, "submitIntent", [intent, v, r, s]);
      await expectRevert(submit, abi, "InvalidSignature");
    }
  });
});

describe("cancelIntent", () => {
  it("cancelIntent closes an open intent for good", async () => {
    const book = await deploy();
    await book.send(payer.address, "submitIntent", await signed(book, owner));
    const receipt = await book.send(owner.address, "cancelIntent", [1n]);
    expect(decodeEvents(receipt, abi)).toEqual([{ eventName: "IntentCancelled", args: { intentId: 1n } }]);
    expect(await book.read("getIntentStatus", [1n])).toBe(2);
    await expectRevert(book.send(owner.address, "cancelIntent", [1n]), abi, "IntentNotOpen");
    const bid = [1n, 1n, 1_000n, 0n, (await evm.now()) + 10n, zeroHash] as const;
    await expectRevert(book.call(solver.address, "submitBid", bid), abi, "IntentNotOpen");
    await expectRevert(book.call(owner.address, "selectBid", [1n, 1n]), abi, "IntentNotOpen");
  });

  it("cancelIntent still works after the deadline", async () => {
    const book = await deploy();
    await book.send(payer.address, "submitIntent", await signed(book, owner));
    await evm.chain.increaseTime(5_000n);
    await book.send(owner.address, "cancelIntent", [1n]);
    expect(await book.read("getIntentStatus", [1n])).toBe(2);
  });

  it("lets only the owner cancel an intent, and no account an unknown one", async () => {
    const book = await deploy();
    await book.send(payer.address, "submitIntent", await signed(book, owner));
    for (const from of [payer.address, solver.address, zeroAddress]) {
      await expectRevert(book.call(from, "cancelIntent", [1n]), abi, "Unauthorized");
    }
    await expectRevert(book.call(owner.address, "cancelIntent", [2n]), abi, "Unauthorized");
    // A node simulates calls without a sender as the zero address, which is what an unknown intent's owner reads as.
    await expectRevert(book.call(zeroAddress, "cancelIntent", [2n]), abi, "IntentNotOpen");
    await expectRevert(book.call(zeroAddress, "selectBid", [2n, 0n]), abi, "IntentNotOpen");
  });
});

describe("outsiders", () => {
  it("other accounts can bid and change nothing that is there", async () => {
    const book = await deploy();
    const validUntil = (await evm.now()) + 900n;
    for (const nonce of [1n, 2n, 3n]) {
      await book.send(payer.address, "submitIntent", await signed(book, owner, { nonce }));
      await book.send(solver.address, "submitBid", [nonce, 1_000n, 900n, 0n, validUntil, zeroHash]);
      await book.send(owner.address, "selectBid", [nonce, 1n]);
    }
    const proof = {
      executionData: "0x",
      resultHash: zeroHash,
      traceHash: zeroHash,
      attestationId: 0n,
    } as const;
    const fill = { amountIn: 1_000n, amountOut: 900n, solver: solver.address, ...proof };
    await book.send(solver.address, "fillIntent", [2n, fill]);
    await book.send(owner.address, "cancelIntent", [3n]);
    const open = await findPermissionlessFunctions({
      evm,
      contract: book,
      outsiders: [payer.address, agent.address],
      pool: {
        numbers: [0n, 1n, 2n, 3n, 900n, 1_000n, validUntil],
        addresses: [owner.address, solver.address, payer.address],
        words: [zeroHash, word("33")],
      },
      world: () =>
        Promise.all(
          [1n, 2n, 3n].flatMap((intentId) => [
            book.read("getIntent", [intentId]),
            book.read("getIntentStatus", [intentId]),
            book.read("getSelectedBid", [intentId]),
            book.read("getBid", [intentId, 1n]),
          ]),
        ),
      numRuns: runsOf(60),
    });
    expect(["submitBid"]).toEqual(expect.arrayContaining([...open]));
  });
});
