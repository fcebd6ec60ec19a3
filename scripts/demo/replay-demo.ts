// The whole story of an agent, a solver and a merchant, on chain and over the API, without a sleep between them.
import { deepStrictEqual } from "node:assert";
import { intentStructHash } from "@sextant/contracts/hashes/intent-hash";
import { registerAgent } from "@sextant/simulator/transactions/agents";
import { fillIntent, selectBid, submitBid } from "@sextant/simulator/transactions/bids";
import { signIntent, submitIntent } from "@sextant/simulator/transactions/intents";
import { registerMerchant, registerService } from "@sextant/simulator/transactions/merchants";
import { policiesOfWallet, setSpendLimit, setTargetAllowed } from "@sextant/simulator/transactions/policies";
import { commitQuote, PAYMENT_RAIL, recordReceipt } from "@sextant/simulator/transactions/quotes";
import type { World } from "@sextant/simulator/world";
import { keccak256, stringToHex, zeroAddress, zeroHash } from "viem";
import type { DemoSession, JsonRecord } from "./demo-session.ts";

type DemoContext = {
  readonly world: World;
  readonly session: DemoSession;
  /** Called with one line for each step that is done. */
  readonly report: (line: string) => void;
};

const INPUT_TOKEN = `0x${"1a".repeat(20)}` as const;
const OUTPUT_TOKEN = `0x${"2b".repeat(20)}` as const;
const EXECUTION_DATA = "0x1234";
const DATA_HASH = keccak256(EXECUTION_DATA);
const HOUR = 3_600n;

/** Any run may follow another on the same chain: every name in it is new. */
export async function replayDemo(context: DemoContext): Promise<void> {
  await registerDemoAgent(context);
  await setDemoPolicies(context);
  const shop = await publishDocuments(context);
  await settleQuote(context, shop);
  const intentId = await submitDemoIntent(context);
  await checkPreflight(context);
  await fillDemoIntent(context, intentId);
  await readTotals(context);
}

/** The block of the newest receipt. */
const blockOf = ({ world }: DemoContext) => world.counters.block;

function expectFields(record: JsonRecord, expected: JsonRecord): void {
  const found = Object.fromEntries(Object.keys(expected).map((key) => [key, record[key]]));
  deepStrictEqual(found, expected);
}

function firstOf(list: unknown): JsonRecord {
  const [first] = list as readonly JsonRecord[];
  if (!first) throw new Error("The list is empty, although its record is in an indexed block");
  return first;
}

async function registerDemoAgent(context: DemoContext): Promise<void> {
  const { world, session, report } = context;
  const { agent } = world.actors;
  const profile = {
    metadataURI: "https://agent.example",
    pubkey: "0xab",
    capabilitiesHash: zeroHash,
  } as const;
  const id = await registerAgent(world, agent, profile);
  const owner = agent.address.toLowerCase();
  const expected = { agent_id: String(id), owner, metadata_uri: "https://agent.example", revoked: false };
  expectFields(await session.read(`/agents/${id}`, blockOf(context)), expected);
  const { agents } = await session.read(`/agents?owner=${owner}&limit=100`, blockOf(context));
  if (!(agents as readonly JsonRecord[]).some(({ agent_id }) => agent_id === String(id))) {
    throw new Error(`Agent ${id} is not among those of its owner`);
  }
  report(`agent ${id} registered and read`);
}

async function setDemoPolicies(context: DemoContext): Promise<void> {
  const { world, session, report } = context;
  const { agent } = world.actors;
  const holder = policiesOfWallet(world, agent);
  await setSpendLimit(holder, INPUT_TOKEN, 1_000n);
  await setTargetAllowed(holder, INPUT_TOKEN, true);
  const { policies } = await session.read(`/accounts/${agent.address}/policies?limit=100`, blockOf(context));
  const types = (policies as readonly JsonRecord[])
    .filter(({ block_number }) => Number(block_number) >= blockOf(context) - 1)
    .map(({ policy_type }) => policy_type);
  deepStrictEqual([...types].sort(), ["SPEND_LIMIT", "TARGET_ALLOWLIST"]);
  report("account policies set and read");
}

type DemoShop = { readonly merchantId: bigint; readonly serviceId: bigint };

async function publishDocuments(context: DemoContext): Promise<DemoShop> {
  const { world, session, report } = context;
  const { merchant, agent } = world.actors;
  const { address: payoutAddress } = merchant;
  const profile = { payoutAddress, metadataURI: "https://shop.example", metadataHash: zeroHash };
  const merchantId = await registerMerchant(world, merchant, profile);
  const name = `demo-${merchantId}`;
  const catalogText = JSON.stringify({ merchant_id: String(merchantId), services: [name] });
  const catalog = await session.write("/catalogs", { catalog_json: catalogText, service_id: "" }, 201);
  const metadataHash = keccak256(stringToHex(catalogText));
  expectFields(catalog, { catalog_hash: metadataHash, service_id: null });
  const serviceId = await registerService(world, merchant, merchantId, name, {
    metadataURI: String(catalog.uri),
    metadataHash,
    capabilityHash: zeroHash,
  });
  const service = await session.read(`/services/${serviceId}`, blockOf(context));
  expectFields(service, { merchant_id: String(merchantId), service_id: name, metadata_hash: metadataHash });
  const ids = { request_id: name, merchant_id: String(merchantId), service_numeric_id: String(serviceId) };
  const labels = { ...ids, agent: agent.address.toLowerCase() };
  const request = await session.write("/quote-requests", { quote_request_json: JSON.stringify(labels) }, 201);
  expectFields(request, labels);
  const { request_hash } = request;
  const responseText = JSON.stringify({ ...labels, request_hash, price: "5" });
  const response = await session.write("/quote-responses", { quote_response_json: responseText }, 201);
  expectFields(response, { ...labels, request_hash });
  report(`catalog, quote request and quote response published for service ${serviceId}`);
  return { merchantId, serviceId };
}

async function settleQuote(context: DemoContext, { merchantId, serviceId }: DemoShop): Promise<void> {
  const { world, session, report } = context;
  const { merchant, agent } = world.actors;
  const quoteHash = await commitQuote(world, merchant, {
    merchantId,
    serviceNumericId: serviceId,
    agent: agent.address,
    token: INPUT_TOKEN,
    facilitator: zeroAddress,
    amount: 5n,
    paymentRail: PAYMENT_RAIL.transfer,
    expiresAt: (await world.timeline.now()) + HOUR,
    paymentNonce: merchantId,
    resourceHash: zeroHash,
    termsHash: zeroHash,
    x402PayloadHash: zeroHash,
  });
  expectFields(await session.read(`/quotes/${quoteHash}`, blockOf(context)), { amount: "5", settled: false });
  const receiptId = await recordReceipt(world, agent, quoteHash, zeroHash);
  expectFields(await session.read(`/quotes/${quoteHash}`, blockOf(context)), { settled: true });
  const { receipts } = await session.read(`/receipts?merchant_id=${merchantId}`, blockOf(context));
  expectFields(firstOf(receipts), { receipt_id: String(receiptId), quote_hash: quoteHash });
  report(`quote committed and settled by receipt ${receiptId}`);
}

async function submitDemoIntent(context: DemoContext): Promise<bigint> {
  const { world, session, report } = context;
  const { agent } = world.actors;
  const deadline = (await world.timeline.now()) + HOUR;
  const signed = await signIntent(world, agent, {
    inputToken: INPUT_TOKEN,
    outputToken: OUTPUT_TOKEN,
    execution: { dataHash: DATA_HASH },
    constraints: { amountInMax: 100n, amountOutMin: 90n, deadline, slippageBps: 50 },
    nonce: BigInt(Date.now()),
  });
  const reservation = {
    intent_hash: intentStructHash(signed.intent),
    owner: agent.address,
    execution_data: EXECUTION_DATA,
    execution_target: "",
  };
  expectFields(await session.write("/intents/metadata", reservation, 201), { intent_id: null });
  const intentId = await submitIntent(world, agent, signed);
  const intent = await session.read(`/intents/${intentId}?include=requirements`, blockOf(context));
  expectFields(intent, { intent_id: String(intentId), status: "OPEN", fill: null });
  expectFields(intent.requirements as JsonRecord, { data_hash: DATA_HASH, execution_target: zeroAddress });
  expectFields(intent.metadata as JsonRecord, { execution_data: EXECUTION_DATA, execution_target: null });
  report(`intent ${intentId} submitted, with the metadata reserved for it`);
  return intentId;
}

async function checkPreflight(context: DemoContext): Promise<void> {
  const { world, session, report } = context;
  const { agent } = world.actors;
  const planned = { account: agent.address, target: INPUT_TOKEN };
  expectFields(await session.preflight(planned, blockOf(context)), { allowed: true, reasons: [] });
  await setTargetAllowed(policiesOfWallet(world, agent), INPUT_TOKEN, false);
  const rejected = await session.preflight(planned, blockOf(context));
  expectFields(rejected, { allowed: false, missing_policies: ["TARGET_ALLOWLIST"] });
  report("preflight follows the policy of the receipt before it");
}

async function fillDemoIntent(context: DemoContext, intentId: bigint): Promise<void> {
  const { world, session, report } = context;
  const { agent, solver } = world.actors;
  const validUntil = (await world.timeline.now()) + HOUR / 2n;
  // A bid commits to the data that the intent requires.
  const terms = { amountIn: 99n, amountOut: 91n, fee: 1n, validUntil, executionHash: DATA_HASH };
  const bidId = await submitBid(world, solver, intentId, terms);
  const open = await session.read(`/intents/${intentId}/bids?status=open`, blockOf(context));
  expectFields(firstOf(open.bids), { chain_bid_id: String(bidId), status: "OPEN", amount_out: "91" });
  await selectBid(world, agent, intentId, bidId);
  const selected = await session.read(`/intents/${intentId}/bids?status=selected`, blockOf(context));
  expectFields(firstOf(selected.bids), { chain_bid_id: String(bidId), status: "SELECTED" });
  const resultHash = keccak256("0x01");
  const proof = {
    executionData: EXECUTION_DATA,
    resultHash,
    traceHash: zeroHash,
    attestationId: 0n,
  } as const;
  await fillIntent(world, solver, intentId, terms, proof);
  const filled = await session.read(`/intents/${intentId}?include=requirements`, blockOf(context));
  expectFields(filled, { status: "FILLED" });
  const fill = filled.fill as JsonRecord;
  expectFields(fill, { amount_in: "99", result_hash: resultHash, block_number: String(blockOf(context)) });
  const explained = await session.read(`/tx/${fill.tx_hash}/explain`, blockOf(context));
  const names = (explained.events as readonly JsonRecord[]).map(({ eventName }) => eventName);
  deepStrictEqual([...names].sort(), ["IntentFillProof", "IntentFilled"]);
  report(`intent ${intentId} bid on, selected, filled and explained`);
}

async function readTotals(context: DemoContext): Promise<void> {
  const { session, report } = context;
  const { summary } = await session.read("/analytics/commerce", blockOf(context));
  const { receipts, settled_quotes } = summary as Readonly<Record<string, string>>;
  if (Number(receipts) < 1 || Number(settled_quotes) < 1) throw new Error("The totals lack the receipt");
  report(`analytics count ${receipts} receipts`);
}
