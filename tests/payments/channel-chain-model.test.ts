// Random and known histories of one channel on a chain that moves: withdrawals, reorgs, wrong clocks, races and a second database.
// The contract itself says what is covered and claimed; the test bounds what each history may cost the payee.
import { batchSettlementAbi } from "@sextant/contracts/generated/batch-settlement";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentRequired } from "@x402/core/types";
import fc from "fast-check";
import { encodeFunctionData, type Hex } from "viem";
import { afterAll, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { encodeDeposit } from "../../src/payments/channels/channel-calls.ts";
import { CHANNEL_CONTRACT, ChannelDigests } from "../../src/payments/channels/channel-config.ts";
import type { ChannelSender } from "../../src/payments/channels/channel-sender.ts";
import { acquireLock } from "../../src/store/postgres/advisory-lock.ts";
import { openTestDatabase } from "../support/index/test-index.ts";
import { signDeposit } from "../support/payments/channel-client.ts";
import { openChannelWorld } from "../support/payments/channel-world.ts";
import { type Death, Died, killAt } from "../support/payments/dying-process.ts";
import { openPaidBackend } from "../support/payments/paid-backend.ts";
import { decodeBase64Header, TEST_NETWORK, waitFor } from "../support/payments/paid-client.ts";
import { openPaidStage, type StagedPaidService, TEST_PRICE } from "../support/payments/paid-stage.ts";
import { askTestClock, giveClock, setClockAhead } from "../support/payments/wrong-clock.ts";
import { runsOf } from "../support/test-depth.ts";
import { type ChainStep, chainSteps, KNOWN_HISTORIES, type ProcessIndex } from "./channel-chain-steps.ts";

const RUNS = 40;
const EXPOSURE = 4n * TEST_PRICE;
const CLAIM_MIN = 2n * TEST_PRICE;
const DELAY_SECONDS = 901;
// Longer than a claim waits before it is sent again.
const RETRY_SECONDS = 610;
const FINALITY = 33;
const PATIENT_MS = 90_000;
const HOUR_MS = 3_600_000;
const FEES = { maxFeePerGas: "0x174876e800", maxPriorityFeePerGas: "0x174876e800", gas: "0x493e0" };

const digests = new ChannelDigests(TEST_NETWORK);
const backend = await openPaidBackend();
const second = await openTestDatabase();
const databases = [backend.database, second.database] as const;
for (const database of databases) await giveClock(database);
afterAll(async () => {
  await second.drop();
  await backend.close();
});

/** State of the channel in the contract. */
type OnChain = { readonly balance: bigint; readonly claimed: bigint; readonly leaving: bigint };

const maxOf = (a: bigint, b: bigint) => (a > b ? a : b);

/** The sum that vouchers may reach while nothing else happens. */
const coverOf = ({ balance, leaving }: OnChain) => (balance > leaving ? balance - leaving : 0n);

/** The sum that the contract owes by vouchers of a ledger and does not hold. */
const deficitOf = (charged: bigint, { balance, claimed }: OnChain) => {
  const held = balance > claimed ? balance : claimed;
  return charged > held ? charged - held : 0n;
};

/** The part of a history that one database has. */
type Ledger = {
  charged: bigint;
  bought: number;
  isElsewhere: boolean;
  /** A claim died before it was sent, or reverted by itself: it waits for its time. */
  isHeld: boolean;
  readonly delivered: Map<bigint, { readonly q: number; readonly body: string }>;
  /** The most that its payee may have lost. */
  lossMax: bigint;
};

async function openHistory() {
  const stage = await openPaidStage("in process", backend);
  const other = await openPaidStage("in process", {
    ...{ ...backend, database: second.database },
    reset: async () => {
      for (const table of ["payment_channels", "channel_purchases", "channel_scans", "channel_transactions"])
        await second.database.query(`delete from ${table}`);
    },
  });
  const clock = { aheadMs: 0 };
  const given = {
    clock: { ...systemClock, nowMs: () => Date.now() + clock.aheadMs },
    limits: { waitMs: PATIENT_MS, failuresMax: 1_000, unpaidPerClientPerMinute: 0 },
    channels: {
      exposureMax: EXPOSURE,
      claimRules: { valueMin: CLAIM_MIN, ageSecondsMax: 3_600 },
      // A busy machine is not a clock that is wrong by hours.
      limits: {
        ...{ leaseMs: PATIENT_MS, pollMs: 5, receiptMs: 200 },
        ...{ mirrorAgeMsMax: 600_000, blockAgeMsMax: HOUR_MS, rereadMs: 0 },
      },
    },
  };
  const turns = { ...given, channels: { ...given.channels, sender: takeTurns(stage.sender) } };
  const services = [await stage.serve(turns), await stage.serve(turns), await other.serve(given)] as const;
  for (const { injected } of services) injected.rewrite = askTestClock;
  const world = await openChannelWorld(stage);
  await stage.chain.mine();
  const unpaid = await fetch(`${services[0].url}/paid?q=0`);
  const terms = decodeBase64Header<PaymentRequired>(unpaid, "payment-required").accepts;
  const ledger = (): Ledger => ({
    ...{ charged: 0n, bought: 0, isElsewhere: false, isHeld: false, lossMax: 0n, delivered: new Map() },
  });
  return {
    ...{ stage, other, clock, services, world },
    accepted: terms.find(({ scheme }) => scheme === "batch-settlement"),
    firstBlock: await stage.node.getBlockNumber({ cacheTime: 0 }),
    before: await stage.balance(stage.payTo),
    ledgers: [ledger(), ledger()] as const,
    runs: 0,
    /** Hours by which the database's clock is ahead of the chain's. */
    drift: 0,
    /** Seconds that have passed by steps, for chain and databases alike. */
    passed: 0,
    /** Reorgs, and claims that they undid. */
    reorgs: 0n,
    undone: 0n,
    /** The most that final blocks have covered at a time: a row that has not seen a withdrawal goes by it. */
    finalMost: 0n,
  };
}

/** Claims of the processes of one database come one after another, as those of a facilitator's clients do. */
function takeTurns(sender: ChannelSender): ChannelSender {
  const runInTurn: ChannelSender["runInTurn"] = async (name, work) => {
    const lock = await acquireLock(backend.database, name, { waitMs: PATIENT_MS });
    if (lock === null) throw new Error("another process has the turn");
    return work().finally(() => lock.release());
  };
  return { ...sender, runInTurn };
}

type History = Awaited<ReturnType<typeof openHistory>>;

const ledgerOf = ({ ledgers }: History, process: ProcessIndex) => ledgers[process === 2 ? 1 : 0];

async function readChain(
  { stage, world }: History,
  blockTag: "latest" | "finalized" = "latest",
): Promise<OnChain> {
  const call = {
    address: CHANNEL_CONTRACT,
    abi: batchSettlementAbi,
    args: [world.channelId],
    blockTag,
  } as const;
  const [[balance, claimed], [leaving]] = await Promise.all([
    stage.node.readContract({ ...call, functionName: "channels" }),
    stage.node.readContract({ ...call, functionName: "pendingWithdrawals" }),
  ]);
  return { balance, claimed, leaving };
}

async function readRow({ services, world }: History, process: ProcessIndex) {
  const found = await services[process].channels?.rows.find(world.channelId);
  if (!found) return null;
  const { balance, totalClaimed: claimed, withdrawAmount: leaving, charged, isClaimedElsewhere } = found.row;
  return { charged, isClaimedElsewhere, state: { balance, claimed, leaving } satisfies OnChain };
}

async function setClocks({ passed, drift }: History): Promise<void> {
  for (const database of databases) await setClockAhead(database, passed + drift * 3_600);
}

/** Time passes for the chain and the databases. */
async function pass(history: History, seconds: number): Promise<void> {
  history.passed += seconds;
  if (seconds >= RETRY_SECONDS) for (const ledger of history.ledgers) ledger.isHeld = false;
  await history.stage.chain.increaseTime(BigInt(seconds));
  await history.stage.chain.mine();
  await setClocks(history);
}

/** Sends a voucher; null if the process dies. */
async function send(
  history: History,
  process: ProcessIndex,
  total: bigint,
  q: number,
): Promise<number | null> {
  const { services, world, accepted } = history;
  const { account, config, channelId } = world;
  const signature = await account.sign({ hash: digests.voucher(channelId, total) });
  const voucher = { channelId, maxClaimableAmount: total.toString(), signature };
  const payload = { type: "voucher", channelConfig: config, voucher };
  const header = encodePaymentSignatureHeader({ x402Version: 2, accepted, payload } as never);
  const resource = { method: "GET", path: "/paid", query: { q: String(q) } };
  try {
    const request = { resource, signature: header, client: "payer" };
    const response = await services[process].sale.serve(request, async () => {
      history.runs += 1;
      return { status: 200, body: { run: history.runs, q } };
    });
    if (response.status !== 200) return response.status;
    const { delivered } = ledgerOf(history, process);
    const body = Buffer.from(response.body as Uint8Array).toString();
    // The same voucher never buys two things, nor the same thing twice.
    expect(delivered.get(total) ?? { q, body }).toEqual({ q, body });
    delivered.set(total, { q, body });
    return 200;
  } catch (error) {
    if (error instanceof Died) return null;
    throw error;
  }
}

async function play(list: readonly ChainStep[]): Promise<void> {
  const history = await openHistory();
  try {
    await deposit(history, 8);
    for (const step of list) {
      await take(history, step);
      await settleTurns(history);
      await check(history);
    }
    await finish(history);
  } finally {
    await history.other.close();
    await history.stage.close();
    Object.assign(history, { passed: 0, drift: 0 });
    await setClocks(history);
  }
}

/** A dead process keeps the channel for no time that the test waits. */
async function settleTurns({ world }: History): Promise<void> {
  const text =
    "update payment_channels set lease_until = '-infinity' where channel_id = $1 and owner is not null";
  for (const database of databases) await database.query({ text, values: [world.channelId] });
}

/** Sent by another account than ours: it is there or not, whatever a reorg did to our transactions. */
async function deposit({ stage, world }: History, purchases: number): Promise<void> {
  const { account, config } = world;
  const { deposit: signed } = await signDeposit(account, config, BigInt(purchases) * TEST_PRICE);
  const data = encodeDeposit(config, signed);
  const { owner } = stage.chain.accounts;
  await stage.chain.request("eth_sendTransaction", [
    { from: owner.address, to: CHANNEL_CONTRACT, data, ...FEES },
  ]);
}

async function take(history: History, step: ChainStep): Promise<void> {
  if (step.do === "buy") return buyOften(history, step);
  if (step.do === "replay") return replay(history, step);
  if (step.do === "work") return work(history, step.process, step.death);
  if (step.do === "work at once") return workAtOnce(history);
  if (step.do === "deposit") return deposit(history, step.purchases);
  if (step.do === "withdraw") return withdraw(history, step.leaving);
  if (step.do === "finish") return finishWithdrawal(history, step);
  if (step.do === "reorg") return reorg(history, step);
  if (step.do === "final") return history.stage.chain.mine(FINALITY);
  if (step.of === "services") history.clock.aheadMs = step.hours * HOUR_MS;
  else {
    history.drift = step.hours;
    await setClocks(history);
  }
}

/** True for every step: nothing is claimed twice or beyond a voucher, and no payee loses more than the steps explain. */
async function check(history: History): Promise<void> {
  const { stage, ledgers, before, reorgs, undone } = history;
  const chain = await readChain(history);
  history.finalMost = maxOf(history.finalMost, coverOf(await readChain(history, "finalized")));
  expect((await stage.balance(stage.payTo)) - before).toBe(chain.claimed);
  const charged = ledgers.map((ledger) => ledger.charged);
  expect(charged.some((each) => chain.claimed <= each)).toBe(true);
  for (const [index, ledger] of ledgers.entries()) {
    const row = await readRow(history, index === 0 ? 0 : 2);
    expect(row?.charged ?? 0n).toBe(ledger.charged);
    expect(row?.isClaimedElsewhere ?? false).toBe(ledger.isElsewhere);
    const explained = ledger.lossMax + undone + reorgs * EXPOSURE;
    expect(deficitOf(ledger.charged, chain)).toBeLessThanOrEqual(explained);
  }
}

/** The row of a ledger after its process has looked at the chain, which may show claims of the other database. */
function look(ledger: Ledger, chain: OnChain, isKnown: boolean): void {
  if (!isKnown || chain.claimed <= ledger.charged) return;
  ledger.charged = chain.claimed;
  ledger.isElsewhere = true;
}

async function buyOften(history: History, step: Extract<ChainStep, { do: "buy" }>): Promise<void> {
  for (let time = 0; time < step.times; time += 1) {
    await buy(history, step);
    await settleTurns(history);
  }
}

async function buy(
  history: History,
  { process, ahead, q, death }: Extract<ChainStep, { do: "buy" }>,
): Promise<void> {
  const ledger = ledgerOf(history, process);
  const row = await readRow(history, process);
  const chain = await readChain(history);
  // A channel that a database meets for the first time begins at what is claimed of it.
  const charged = row?.charged ?? chain.claimed;
  const total = charged + TEST_PRICE * BigInt(1 + ahead);
  const revive = killAt(history.services[process], death);
  const status = await send(history, process, total, q);
  revive();
  const after = await readRow(history, process);
  if (row === null && after !== null) ledger.charged = charged;
  if (after?.isClaimedElsewhere === true && !ledger.isElsewhere) look(ledger, chain, true);
  if (after !== null && after.charged === total && ahead === 0 && (status === 200 || death !== null)) {
    ledger.charged = total;
    ledger.bought += 1;
    // Either what the row showed or what the chain shows covers it, and no more than the exposure is not final.
    const states = [chain, ...(row === null ? [] : [row.state])];
    expect(states.some((state) => total <= coverOf(state))).toBe(true);
    const safe = states.map(({ claimed }) => claimed).reduce(maxOf, history.finalMost);
    if (history.reorgs === 0n) expect(total).toBeLessThanOrEqual(safe + EXPOSURE);
  }
  if (death !== null) return;
  const states = [chain, row?.state ?? chain];
  // The claim of another database shows at any moment of the request.
  const isOverrun = row !== null && chain.claimed > row.charged;
  if (ahead > 0 || row?.isClaimedElsewhere || history.drift !== 0) expect(status).not.toBe(200);
  else if (states.every((state) => total > coverOf(state))) expect(status).toBe(402);
  else if (
    !isOverrun &&
    states.every((state) => total <= coverOf(state) && total <= state.claimed + EXPOSURE)
  ) {
    expect(status).toBe(200);
  }
}

async function replay(
  history: History,
  { process, of }: Extract<ChainStep, { do: "replay" }>,
): Promise<void> {
  const { delivered } = ledgerOf(history, process);
  const [total, known] = [...delivered][of % Math.max(1, delivered.size)] ?? [];
  if (total === undefined || known === undefined) return;
  const runs = history.runs;
  expect(await send(history, process, total, known.q)).toBe(200);
  expect(history.runs).toBe(runs);
}

/** Transactions of claims in the chain, and those that took the place of some after a reorg. */
function countSent({ stage: { node, chain } }: History): Promise<number> {
  return node.getTransactionCount({ address: chain.accounts.facilitator.address });
}

/** One transaction is sent if anything is claimed that was not before, otherwise none. */
async function claimOnce(history: History, claim: () => Promise<unknown>): Promise<void> {
  const [sent, { claimed }] = [await countSent(history), await readChain(history)];
  await claim();
  const isClaimed = (await readChain(history)).claimed > claimed;
  expect((await countSent(history)) - sent).toBe(isClaimed ? 1 : 0);
}

/** Both processes of one database see the same claim due. */
async function workAtOnce(history: History): Promise<void> {
  const both = history.services.slice(0, 2);
  await claimOnce(history, () => Promise.all(both.map(({ gate }) => gate.reconcile())));
  await work(history, 0, null);
}

/** One round of a process without requests: it reads the chain and claims. */
async function work(history: History, process: ProcessIndex, death: Death): Promise<void> {
  const ledger = ledgerOf(history, process);
  const isKnown = (await readRow(history, process)) !== null;
  const before = await readChain(history);
  const revive = killAt(history.services[process], death);
  const { gate } = history.services[process];
  await claimOnce(history, () =>
    death === null ? gate.reconcile() : gate.reconcile().catch(() => undefined),
  );
  revive();
  const after = await readChain(history);
  const row = await readRow(history, process);
  if (row?.isClaimedElsewhere === true) look(ledger, after, isKnown);
  if (death !== null) ledger.isHeld = true;
  if (death !== null || row === null) return;
  look(ledger, after, isKnown);
  expect(row.state).toEqual(after);
  const owed = ledger.charged < before.balance ? ledger.charged : before.balance;
  const isDue = before.leaving > 0n || ledger.charged - before.claimed >= CLAIM_MIN;
  if (isDue && !ledger.isHeld && owed > before.claimed) expect(after.claimed).toBe(owed);
}

async function withdraw(history: History, leaving: number): Promise<void> {
  const chain = await readChain(history);
  const amount = chain.balance - chain.claimed - BigInt(leaving) * TEST_PRICE;
  if (amount <= 0n || chain.leaving > 0n) return;
  await history.world.payerSends("initiateWithdraw", [history.world.config, amount]);
}

async function finishWithdrawal(
  history: History,
  { how, leaving, process }: Extract<ChainStep, { do: "finish" }>,
): Promise<void> {
  const { world, ledgers } = history;
  await withdraw(history, leaving);
  const before = await readChain(history);
  if (before.leaving === 0n) return;
  if (how === "after claims") {
    for (const each of [process, 2] as const) await work(history, each, null);
    await pass(history, RETRY_SECONDS);
    for (const each of [process, 2] as const) await work(history, each, null);
    await pass(history, DELAY_SECONDS - RETRY_SECONDS);
  } else await pass(history, DELAY_SECONDS);
  const deficits = ledgers.map(({ charged }) => [charged, deficitOf(charged, before)] as const);
  if (how === "in the block of a claim") await raceClaim(history, process);
  else await world.payerSends("finalizeWithdraw", [world.config]);
  const after = await readChain(history);
  for (const [index, ledger] of ledgers.entries()) {
    const [charged, deficit] = deficits[index] ?? [0n, 0n];
    const taken = deficitOf(charged, after) - deficit;
    // Nothing is lost to a withdrawal that our processes could see.
    if (how === "after claims") expect(taken).toBeLessThanOrEqual(0n);
    else if (taken > 0n) ledger.lossMax += taken;
  }
}

/** The payer's transaction comes first in the block that has our claim, which was recorded before. */
async function raceClaim(history: History, process: 0 | 1): Promise<void> {
  const { stage, world, services, ledgers } = history;
  const { chain, inProcess } = stage;
  const { config, account } = world;
  await chain.request("hardhat_impersonateAccount", [account.address]);
  await chain.request("hardhat_setBalance", [account.address, "0xde0b6b3a7640000"]);
  const call = { abi: batchSettlementAbi, functionName: "finalizeWithdraw", args: [config] } as const;
  const transaction = { from: account.address, to: CHANNEL_CONTRACT, data: encodeFunctionData(call) };
  const sendFirst = async () => {
    await chain.request("evm_setAutomine", [false]);
    await chain.request("eth_sendTransaction", [{ ...transaction, ...FEES }]);
  };
  const sent = await countSent(history);
  const isOvertaken = overtakeClaim(services[process], sendFirst);
  let isDone = false;
  const claiming = services[process].claims?.claimNow(null).finally(() => {
    isDone = true;
  });
  await waitFor(async () => isDone || (await readPending(history)).length > 1);
  if (isOvertaken()) {
    expect(await readPending(history)).toEqual([account.address.toLowerCase(), inProcess.address]);
    await chain.mine();
    await chain.request("evm_setAutomine", [true]);
  }
  while (!isDone) {
    await chain.mine();
    await systemClock.sleep(10);
  }
  await claiming;
  expect((await countSent(history)) - sent).toBeLessThanOrEqual(1);
  delete services[process].injected.statement;
  ledgers[0].isHeld = true;
  if (!isOvertaken()) await world.payerSends("finalizeWithdraw", [config]);
  const row = await readRow(history, process);
  if (row?.isClaimedElsewhere === true) look(ledgers[0], row.state, true);
}

/** Calls `sendFirst` when the first claim is recorded and not sent yet. */
function overtakeClaim({ injected }: StagedPaidService, sendFirst: () => Promise<void>): () => boolean {
  let state: "waiting" | "recording" | "sent" = "waiting";
  injected.rewrite = (statement) => {
    if (state === "waiting" && statement.text.includes("insert into channel_transactions"))
      state = "recording";
    return askTestClock(statement);
  };
  injected.statement = async (run) => {
    const result = await run();
    if (state === "recording") {
      state = "sent";
      delete injected.statement;
      injected.rewrite = askTestClock;
      await sendFirst();
    }
    return result;
  };
  return () => state === "sent";
}

/** Who sends the transactions of the next block, in order. */
async function readPending({ stage }: History): Promise<readonly Hex[]> {
  const block = await stage.chain.request("eth_getBlockByNumber", ["pending", true]);
  return (block as { transactions: readonly { from: Hex }[] }).transactions.map(({ from }) => from);
}

async function reorg(
  history: History,
  { depth, keeps, claims }: Extract<ChainStep, { do: "reorg" }>,
): Promise<void> {
  const { stage, firstBlock } = history;
  if (claims) await work(history, 0, null);
  const head = await stage.node.getBlockNumber({ cacheTime: 0 });
  const deep = Math.min(depth, Number(head - firstBlock));
  if (deep === 0) return;
  const before = await readChain(history);
  const { owner, facilitator } = stage.chain.accounts;
  const senders = [owner.address.toLowerCase(), facilitator.address.toLowerCase()];
  const sent = await stage.node.getTransactionCount({ address: facilitator.address });
  const replay = keeps === "ours" ? ({ from }: { readonly from: Hex }) => senders.includes(from) : "none";
  await stage.chain.reorg(deep, { replay });
  await stage.chain.mine();
  // Other transactions of the facilitator take the place of those that are gone: a gap of nonces is a test of its queue.
  for (
    let nonce = await stage.node.getTransactionCount({ address: facilitator.address });
    nonce < sent;
    nonce += 1
  ) {
    const nothing = { from: facilitator.address, to: facilitator.address, ...FEES };
    await stage.chain.request("eth_sendTransaction", [nothing]);
  }
  const after = await readChain(history);
  history.reorgs += 1n;
  if (before.claimed > after.claimed) history.undone += before.claimed - after.claimed;
  // Claims that it has undone are sent again at once.
  if (claims) await work(history, 0, null);
}

async function finish(history: History): Promise<void> {
  const { services, ledgers, stage, world } = history;
  history.drift = 0;
  history.clock.aheadMs = 0;
  await setClocks(history);
  for (const process of [0, 2] as const) {
    const { bought, delivered } = ledgerOf(history, process);
    // A purchase that was charged for a process that died is delivered now: its client sends the same again.
    const { rows } = await databases[process === 2 ? 1 : 0].query<{ cumulative: string; q: string }>({
      text: "select cumulative::text, convert_from(answer_body, 'utf8')::json ->> 'q' as q from channel_purchases where channel_id = $1",
      values: [world.channelId],
    });
    for (const { cumulative, q } of rows) {
      expect(await send(history, process, BigInt(cumulative), Number(q))).toBe(200);
    }
    expect([rows.length, delivered.size]).toEqual([bought, bought]);
  }
  await pass(history, RETRY_SECONDS);
  for (const process of [0, 2] as const) {
    const { gate, claims } = services[process];
    await claimOnce(history, () => gate.reconcile());
    await claimOnce(history, async () => claims?.claimNow(null));
  }
  const chain = await readChain(history);
  const owed = ledgers.map(({ charged }) => (charged < chain.balance ? charged : chain.balance));
  for (const each of owed) expect(chain.claimed).toBeGreaterThanOrEqual(each);
  expect((await stage.balance(stage.payTo)) - history.before).toBe(chain.claimed);
}

it.each(KNOWN_HISTORIES)("%s", (_, list) => play(list));

it("never sells above what is covered, claims in time and once, and loses no more than the threat model says", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(chainSteps, { minLength: 6, maxLength: 14, size: "max" }), play),
    {
      numRuns: runsOf(RUNS),
      endOnFailure: true,
    },
  );
}, 600_000);
