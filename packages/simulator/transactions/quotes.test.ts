// Steps of commerce, from merchant to dispute, and of settlement do on chain what their names say.

import { type QuoteCommitment, quoteHash } from "@sextant/contracts/hashes/quote-hash";
import { settlementExecutionHash } from "@sextant/contracts/hashes/settlement-hash";
import { erc20Abi, getAddress, type Hex, maxUint256, toHex, zeroAddress, zeroHash } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DeployedChain, startDeployedChain } from "../deployed-chain.ts";
import { readEvents } from "../read-events.ts";
import { openDispute, resolveDispute } from "./disputes.ts";
import { registerFacilitator, updateFacilitator } from "./facilitators.ts";
import { registerMerchant, registerService, updateMerchant, updateService } from "./merchants.ts";
import { commitQuote, PAYMENT_RAIL, recordFulfillment, recordReceipt } from "./quotes.ts";
import { executeSettlement, LINE_KINDS } from "./settlements.ts";
import { allowMinter, approveToken, mintUsd, sendEtherToMany, wrapEther } from "./tokens.ts";
import { recordTrustSignal, SIGNAL_KINDS, SIGNAL_SUBJECTS } from "./trust-signals.ts";

let stage: DeployedChain;
let merchantId = 0n;
let serviceNumericId = 0n;
const word = (value: number): Hex => toHex(value, { size: 32 });

async function emittedBy(step: () => Promise<unknown>) {
  const { chain, deployment, world } = stage;
  const from = Number(await world.client.getBlockNumber({ cacheTime: 0 })) + 1;
  await step();
  const events = await readEvents(chain.request, deployment, from);
  return events.map(({ contract, event, args }) => [`${contract}.${event}`, args]);
}

async function newQuote(paymentRail: number, facilitator: Hex): Promise<QuoteCommitment> {
  const { world } = stage;
  return {
    merchantId,
    serviceNumericId,
    agent: world.actors.agent.address,
    token: getAddress(world.local.UsdCoin),
    facilitator,
    amount: 1_000n,
    paymentRail,
    expiresAt: (await world.timeline.now()) + 3_600n,
    paymentNonce: world.random.between(0n, 1_000_000n),
    resourceHash: word(1),
    termsHash: word(2),
    x402PayloadHash: word(3),
  };
}

beforeAll(async () => {
  stage = await startDeployedChain();
});
afterAll(() => stage.chain.stop());

describe("commerce steps", () => {
  it("registers and updates merchant, service and facilitator", async () => {
    const { world } = stage;
    const { merchant, facilitator, payer } = world.actors;
    const shop = { payoutAddress: payer.address, metadataURI: "ipfs://shop", metadataHash: word(1) };
    const register = async () => {
      merchantId = await registerMerchant(world, merchant, shop);
    };
    expect(await emittedBy(register)).toEqual([
      ["CommerceRegistry.MerchantRegistered", { merchantId, owner: merchant.address, ...shop }],
    ]);
    expect(await emittedBy(() => updateMerchant(world, merchant, merchantId, shop, false))).toEqual([
      ["CommerceRegistry.MerchantUpdated", { merchantId, ...shop, active: false }],
    ]);

    const offer = { metadataURI: "ipfs://offer", metadataHash: word(2), capabilityHash: word(3) };
    const list = async () => {
      serviceNumericId = await registerService(world, merchant, merchantId, "search", offer);
    };
    expect(await emittedBy(list)).toEqual([
      ["CommerceRegistry.ServiceRegistered", { serviceNumericId, merchantId, serviceId: "search", ...offer }],
    ]);
    expect(await emittedBy(() => updateService(world, merchant, serviceNumericId, offer, true))).toEqual([
      ["CommerceRegistry.ServiceUpdated", { serviceNumericId, ...offer, active: true }],
    ]);

    const profile = { metadataURI: "ipfs://profile", metadataHash: word(4) };
    const who = { facilitatorId: 1n, facilitator: facilitator.address };
    for (const sender of [payer, facilitator]) {
      expect(await emittedBy(() => registerFacilitator(world, sender, facilitator.address, profile))).toEqual(
        [["CommerceRegistry.FacilitatorRegistered", { ...who, ...profile }]],
      );
    }
    expect(await emittedBy(() => updateFacilitator(world, facilitator, 1n, profile, true))).toEqual([
      ["CommerceRegistry.FacilitatorUpdated", { ...who, ...profile, active: true }],
    ]);
  });

  it.each(Object.entries(PAYMENT_RAIL))(
    "quote, receipt, fulfillment and dispute on rail %s",
    async (_, rail) => {
      const { world } = stage;
      const { agent, merchant, facilitator } = world.actors;
      const byFacilitator = rail === PAYMENT_RAIL.facilitator || rail === PAYMENT_RAIL.x402;
      const quote = await newQuote(rail, byFacilitator ? facilitator.address : zeroAddress);
      const hash = quoteHash(quote, BigInt(world.chainId), world.contracts.CommerceRegistry);
      const fee = { protocolFeeBps: 0, protocolFeeAmount: 0n };
      expect(await emittedBy(() => commitQuote(world, merchant, quote))).toEqual([
        ["CommerceRegistry.QuoteCommitted", { quoteHash: hash, ...quote, ...fee }],
      ]);

      let receiptId = 0n;
      const record = async () => {
        receiptId = await recordReceipt(world, byFacilitator ? facilitator : agent, hash, word(5));
      };
      const recorded = await emittedBy(record);
      expect(recorded).toMatchObject([
        [
          "CommerceRegistry.ReceiptRecorded",
          { receiptId, quoteHash: hash, amount: 1_000n, paymentRail: rail },
        ],
      ]);
      for (const fulfillmentHash of [word(6), word(7), zeroHash]) {
        expect(await emittedBy(() => recordFulfillment(world, merchant, receiptId, fulfillmentHash))).toEqual(
          [["CommerceRegistry.FulfillmentRecorded", { receiptId, fulfillmentHash }]],
        );
      }
      for (const [outcome, status] of [
        ["resolved", 1],
        ["rejected", 2],
      ] as const) {
        let disputeId = 0n;
        const open = async () => {
          disputeId = await openDispute(world, agent, receiptId, word(8));
        };
        expect(await emittedBy(open)).toEqual([
          [
            "CommerceRegistry.DisputeOpened",
            { disputeId, receiptId, opener: agent.address, reasonHash: word(8) },
          ],
        ]);
        expect(await emittedBy(() => resolveDispute(world, merchant, disputeId, outcome, word(9)))).toEqual([
          ["CommerceRegistry.DisputeResolved", { disputeId, status, resolutionHash: word(9) }],
        ]);
      }
    },
  );

  it("signals about every subject and of every kind", async () => {
    const { world } = stage;
    const { attestor } = world.actors;
    const signals = SIGNAL_SUBJECTS.flatMap((type) => SIGNAL_KINDS.map((kind) => ({ type, kind })));
    const events = await emittedBy(() =>
      world.inOneBlock(
        signals.map(
          ({ type, kind }) =>
            () =>
              recordTrustSignal(world, attestor, { type, id: 1n }, kind, word(1)),
        ),
      ),
    );
    expect(events).toEqual(
      [0, 1, 2, 3].flatMap((subjectType) =>
        [0, 1, 2, 3].map((kind) => [
          "CommerceRegistry.TrustSignalRecorded",
          {
            signalId: BigInt(4 * subjectType + kind + 1),
            subjectType,
            subjectId: 1n,
            kind,
            reporter: attestor.address,
            signalHash: word(1),
          },
        ]),
      ),
    );
  });
});

describe("settlement and token steps", () => {
  it.each(["UsdCoin", "WrappedEther", "native"] as const)("pays several parties in %s", async (name) => {
    const { world } = stage;
    const { owner, payer, merchant, guardian } = world.actors;
    const token = name === "native" ? zeroAddress : getAddress(world.local[name]);
    if (name === "UsdCoin") {
      await allowMinter(world, owner, guardian.address);
      await mintUsd(world, guardian, payer.address, 1_000n);
    }
    if (name === "WrappedEther") await wrapEther(world, payer, 1_000n);
    if (token !== zeroAddress)
      await approveToken(payer, token, world.contracts.SettlementAdapter, maxUint256);

    const recipients = [merchant.address, world.wallet(2_001).address, world.wallet(2_002).address];
    const plan = {
      quoteHash: word(1),
      settlementPlanHash: word(2),
      token,
      deadline: (await world.timeline.now()) + 60n,
      lines: recipients.map((recipient, kind) => ({
        kind: kind % LINE_KINDS.length,
        recipient,
        amount: BigInt(kind + 1),
        metadataHash: word(kind),
      })),
    };
    const instruction = { ...plan, payer: payer.address, grossAmount: 6n };
    const executionHash = settlementExecutionHash(
      { ...instruction, lines: plan.lines.map((line) => ({ ...line, token })) },
      BigInt(world.chainId),
      world.contracts.SettlementAdapter,
    );
    expect(await emittedBy(() => executeSettlement(world, payer, plan))).toEqual([
      [
        "SettlementAdapter.SettlementExecuted",
        {
          quoteHash: plan.quoteHash,
          settlementPlanHash: plan.settlementPlanHash,
          payer: payer.address,
          token,
          grossAmount: 6n,
          executionHash,
        },
      ],
    ]);
    const address = world.wallet(2_002).address;
    const received =
      token === zeroAddress
        ? await world.client.getBalance({ address })
        : await world.client.readContract({
            address: token,
            abi: erc20Abi,
            functionName: "balanceOf",
            args: [address],
          });
    expect(received).toBe(3n);
  });

  it("sends ether to many accounts in one transaction", async () => {
    const { world } = stage;
    const recipients = Array.from({ length: 40 }, (_, index) => world.wallet(3_000 + index).address);
    const before = world.counters.transactions;
    await sendEtherToMany(world, world.actors.owner, recipients, 5n);
    expect(world.counters.transactions).toBe(before + 1);
    for (const address of recipients) expect(await world.client.getBalance({ address })).toBe(5n);
  });
});
