// A solver that bids on open intents and ends when it has filled one: `npm start`, then `npx tsx examples/solver.ts`.
import type { Bid, Intent } from "@sextant/client/sextant";
import { intentBookAbi } from "@sextant/contracts/generated/intent-book";
import { type Hex, keccak256, zeroHash } from "viem";
import { openIntentOwner } from "./intent-owner.ts";
import { blockOf, openLocalRun } from "./local-run.ts";

const run = openLocalRun();
const { api, sextant, contract, wallet, formatAmount } = run;
const solver = wallet("solver");
const me = solver.account.address.toLowerCase();
const book = { address: contract("IntentBook"), abi: intentBookAbi } as const;
/** No read may be older than the solver's own newest transaction: it would bid twice. */
let minBlock = 0n;

/** The index is the only memory, so that a solver can be restarted at any time. */
async function findOwnBid(id: string): Promise<Bid | null> {
  for await (const bid of sextant.listBids({ id }, { minBlock })) if (bid.solver === me) return bid;
  return null;
}

async function bid(intent: Intent): Promise<void> {
  const { intent_id: id, amount_in_max, amount_out_min, deadline, requirements } = intent;
  const amounts = [BigInt(amount_in_max), BigInt(amount_out_min)] as const;
  const executionHash = (requirements?.data_hash ?? zeroHash) as Hex;
  const args = [BigInt(id), ...amounts, 0n, BigInt(deadline), executionHash] as const;
  minBlock = await blockOf(solver, await solver.writeContract({ ...book, functionName: "submitBid", args }));
  console.log(`bid on intent ${id}: ${describe(amount_in_max, amount_out_min, intent)}`);
}

/** Amounts of both sides, as the solver sees them. */
function describe(taken: string, given: string, { input_token, output_token }: Intent): string {
  return `takes ${formatAmount(taken, input_token)}, gives ${formatAmount(given, output_token)}`;
}

async function fill({ intent_id: id, amount_in, amount_out }: Bid): Promise<void> {
  // Here a real solver does the swap, with what the owner has published for it.
  const { metadata } = await sextant.getIntent({ id }, { minBlock });
  const executionData = (metadata?.execution_data ?? "0x") as Hex;
  const proof = {
    executionData,
    resultHash: keccak256(executionData),
    traceHash: zeroHash,
    attestationId: 0n,
  };
  const amounts = { amountIn: BigInt(amount_in), amountOut: BigInt(amount_out) };
  const args = [BigInt(id), { ...amounts, ...proof, solver: solver.account.address }] as const;
  minBlock = await blockOf(solver, await solver.writeContract({ ...book, functionName: "fillIntent", args }));
  const { status, fill: filled } = await sextant.getIntent({ id }, { minBlock });
  console.log(`selected for intent ${id}: ${status} in ${filled?.tx_hash}`);
}

async function work(intent: Intent): Promise<void> {
  // An attestation is another's to give.
  if (intent.requirements?.required_attestation_schema !== zeroHash) return;
  if (intent.requirements.required_attestation_subject !== zeroHash) return;
  const own = await findOwnBid(intent.intent_id);
  if (own === null) await bid(intent);
  else if (own.status === "SELECTED") await fill(own);
}

// The owners of a local run's own intents select among their own solvers, so that we are an owner too.
const owner = openIntentOwner(run);
const wanted = await owner.submit();
minBlock = await solver.getBlockNumber();
for (let round = 1; round <= 2; round += 1) {
  // A real solver repeats this, and reads all pages or the events.
  const open = sextant.listIntents({ status: "open", include: "requirements" }, { minBlock });
  for (const intent of await open.take(5)) {
    // Others may have been faster, or time has run out: the next intent is still worth a bid.
    await work(intent).catch((error: Error) => console.error(`intent ${intent.intent_id}: ${error.message}`));
  }
  const own = await findOwnBid(wanted);
  if (own?.status === "OPEN") minBlock = await owner.select(wanted, own.chain_bid_id ?? "");
}
const intent = await sextant.getIntent({ id: wanted }, { minBlock });
const { status, fill: filled } = intent;
if (status !== "FILLED" || filled === null) {
  throw new Error(`intent ${wanted} is ${status}; is npm start still running?`);
}
console.log(`result for intent ${wanted}: ${describe(filled.amount_in, filled.amount_out, intent)}`);
console.log(`next: open ${api}/explorer/intents/${wanted}, or run`);
console.log(`  node bin/sextant.mjs list intents/${wanted}/bids`);
