// Merchants, what they sell, and each sale from its quote to its receipt, fulfilment, dispute or settlement.
import { commerceRegistryAbi } from "@sextant/contracts/generated/commerce-registry";
import { settlementAdapterAbi } from "@sextant/contracts/generated/settlement-adapter";
import type { Hex } from "../../../src/lib/hex.ts";
import { ZERO_ADDRESS, ZERO_HASH } from "../../../src/schema/table.ts";
import { eventEncoder } from "../abi-encoder.ts";
import type { HistoryAction, HistoryQuote } from "../history-state.ts";

const commerceLog = eventEncoder(commerceRegistryAbi);
const settlementLog = eventEncoder(settlementAdapterAbi);

// TRANSFER, SWAP, FACILITATOR, X402: the last two need a facilitator.
const RAILS = 4;
const FACILITATED_FROM = 2;
const NO_FACILITATOR = ZERO_ADDRESS as Hex;
const NOTHING = ZERO_HASH as Hex;
const QUOTE_SECONDS = 86_400;
const SUBJECT_TYPES = 4;
const SIGNAL_KINDS = 4;

const registerMerchant: HistoryAction = (world) => {
  const n = world.next("merchant");
  world.merchants.add(BigInt(n));
  const args = {
    merchantId: BigInt(n),
    owner: world.merchantOwner(n),
    payoutAddress: world.entropy.address("payout", n),
    metadataURI: `https://merchants.example/${n}.json`,
    metadataHash: world.anyHash(),
  };
  return { logs: [commerceLog(world.contracts.CommerceRegistry, "MerchantRegistered", args)], call: null };
};

const updateMerchant: HistoryAction = (world) => {
  const merchantId = world.merchants.pick();
  if (merchantId === null) return null;
  const revision = world.next("revision");
  const args = {
    merchantId,
    payoutAddress: world.entropy.address("payout again", revision),
    metadataURI: `https://merchants.example/${merchantId}-${revision}.json`,
    metadataHash: world.anyHash(),
    active: world.dice.chance(0.9),
  };
  return { logs: [commerceLog(world.contracts.CommerceRegistry, "MerchantUpdated", args)], call: null };
};

const registerService: HistoryAction = (world) => {
  const merchantId = world.merchants.pick();
  if (merchantId === null) return null;
  const n = world.next("service");
  world.services.add({ id: BigInt(n), merchantId });
  const args = {
    serviceNumericId: BigInt(n),
    merchantId,
    serviceId: `service-${n}`,
    metadataURI: `https://merchants.example/${merchantId}/services/${n}.json`,
    metadataHash: world.anyHash(),
    capabilityHash: world.entropy.hash("capability", world.dice.skewed(50)),
  };
  return { logs: [commerceLog(world.contracts.CommerceRegistry, "ServiceRegistered", args)], call: null };
};

const updateService: HistoryAction = (world) => {
  const service = world.services.pick();
  if (service === null) return null;
  const args = {
    serviceNumericId: service.id,
    metadataURI: `https://merchants.example/${service.merchantId}/services/${service.id}-${world.next("revision")}.json`,
    metadataHash: world.anyHash(),
    capabilityHash: world.entropy.hash("capability", world.dice.skewed(50)),
    active: world.dice.chance(0.9),
  };
  return { logs: [commerceLog(world.contracts.CommerceRegistry, "ServiceUpdated", args)], call: null };
};

const registerFacilitator: HistoryAction = (world) => {
  const n = world.next("facilitator");
  world.facilitators.add(BigInt(n));
  const args = {
    facilitatorId: BigInt(n),
    facilitator: world.facilitator(n),
    metadataURI: `https://facilitators.example/${n}.json`,
    metadataHash: world.anyHash(),
  };
  return { logs: [commerceLog(world.contracts.CommerceRegistry, "FacilitatorRegistered", args)], call: null };
};

const updateFacilitator: HistoryAction = (world) => {
  // One that closes takes no more payments; the last one stays open.
  const closes = world.facilitators.size > 1 && world.dice.chance(0.1);
  const facilitatorId = closes ? world.facilitators.take() : world.facilitators.pick();
  if (facilitatorId === null) return null;
  const args = {
    facilitatorId,
    facilitator: world.facilitator(Number(facilitatorId)),
    metadataURI: `https://facilitators.example/${facilitatorId}-${world.next("revision")}.json`,
    metadataHash: world.anyHash(),
    active: !closes,
  };
  return { logs: [commerceLog(world.contracts.CommerceRegistry, "FacilitatorUpdated", args)], call: null };
};

const commitQuote: HistoryAction = (world) => {
  const { dice } = world;
  const service = world.services.pick();
  if (service === null || world.count("agent") === 0) return null;
  const facilitatorId = world.facilitators.pick();
  const paymentRail = dice.skewed(facilitatorId === null ? FACILITATED_FROM : RAILS);
  const facilitated = paymentRail >= FACILITATED_FROM && facilitatorId !== null;
  const quote: HistoryQuote = {
    quoteHash: world.entropy.hash("quote", world.next("quote")),
    merchantId: service.merchantId,
    serviceNumericId: service.id,
    agent: world.agentOwner(1 + dice.skewed(world.count("agent"))),
    token: world.token(),
    facilitator: facilitated ? world.facilitator(Number(facilitatorId)) : NO_FACILITATOR,
    amount: world.amount(),
    paymentRail,
    resourceHash: world.anyHash(),
    expiresAt: BigInt(world.now + QUOTE_SECONDS),
  };
  world.quotes.add(quote);
  const args = {
    ...quote,
    protocolFeeBps: 0,
    protocolFeeAmount: 0n,
    paymentNonce: BigInt(world.count("quote")),
    termsHash: world.anyHash(),
    x402PayloadHash: world.anyHash(),
  };
  return { logs: [commerceLog(world.contracts.CommerceRegistry, "QuoteCommitted", args)], call: null };
};

const recordReceipt: HistoryAction = (world) => {
  const quote = world.quotes.take();
  if (quote === null || quote.expiresAt < BigInt(world.now)) return null;
  const id = BigInt(world.next("receipt"));
  world.receipts.add({ id, quote });
  const args = {
    ...quote,
    receiptId: id,
    protocolFeeBps: 0,
    protocolFeeAmount: 0n,
    resultHash: world.anyHash(),
    fulfillmentHash: NOTHING,
  };
  return { logs: [commerceLog(world.contracts.CommerceRegistry, "ReceiptRecorded", args)], call: null };
};

const recordFulfillment: HistoryAction = (world) => {
  const receipt = world.receipts.pick();
  if (receipt === null) return null;
  // Now and then one is taken back.
  const args = {
    receiptId: receipt.id,
    fulfillmentHash: world.dice.chance(0.02) ? NOTHING : world.anyHash(),
  };
  return { logs: [commerceLog(world.contracts.CommerceRegistry, "FulfillmentRecorded", args)], call: null };
};

const openDispute: HistoryAction = (world) => {
  const receipt = world.receipts.pick();
  if (receipt === null) return null;
  const disputeId = BigInt(world.next("dispute"));
  world.disputes.add(disputeId);
  const args = { disputeId, receiptId: receipt.id, opener: receipt.quote.agent, reasonHash: world.anyHash() };
  return { logs: [commerceLog(world.contracts.CommerceRegistry, "DisputeOpened", args)], call: null };
};

const resolveDispute: HistoryAction = (world) => {
  const disputeId = world.disputes.take();
  if (disputeId === null) return null;
  const args = { disputeId, status: world.dice.between(1, 2), resolutionHash: world.anyHash() };
  return { logs: [commerceLog(world.contracts.CommerceRegistry, "DisputeResolved", args)], call: null };
};

const recordTrustSignal: HistoryAction = (world) => {
  const { dice } = world;
  if (world.count("merchant") === 0) return null;
  const args = {
    signalId: BigInt(world.next("signal")),
    subjectType: dice.skewed(SUBJECT_TYPES),
    subjectId: BigInt(1 + dice.skewed(world.count("merchant"))),
    kind: dice.skewed(SIGNAL_KINDS),
    reporter: world.entropy.address("reporter", dice.skewed(100)),
    signalHash: world.anyHash(),
  };
  return { logs: [commerceLog(world.contracts.CommerceRegistry, "TrustSignalRecorded", args)], call: null };
};

const executeSettlement: HistoryAction = (world) => {
  const receipt = world.receipts.pick();
  if (receipt === null) return null;
  const { quoteHash, agent, token, amount } = receipt.quote;
  const args = {
    quoteHash,
    settlementPlanHash: world.anyHash(),
    payer: agent,
    token,
    grossAmount: amount,
    executionHash: world.anyHash(),
  };
  return { logs: [settlementLog(world.contracts.SettlementAdapter, "SettlementExecuted", args)], call: null };
};

export const commerceHistoryActions = {
  registerMerchant,
  updateMerchant,
  registerService,
  updateService,
  registerFacilitator,
  updateFacilitator,
  commitQuote,
  recordReceipt,
  recordFulfillment,
  openDispute,
  resolveDispute,
  recordTrustSignal,
  executeSettlement,
};
