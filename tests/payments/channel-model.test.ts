// Random histories of one channel, over both schemes and two processes that die: what is charged was delivered, and is claimed.
import { encodePaymentSignatureHeader } from "@x402/core/http";
import fc from "fast-check";
import type { Hex, PrivateKeyAccount } from "viem";
import { afterAll, expect, it } from "vitest";
import { type ChannelConfig, ChannelDigests } from "../../src/payments/channels/channel-config.ts";
import { channelConfigOf, signDeposit, signVoucher } from "../support/payments/channel-client.ts";
import { Died, killAt } from "../support/payments/dying-process.ts";
import { openPaidBackend } from "../support/payments/paid-backend.ts";
import { signPaymentFor, TEST_NETWORK } from "../support/payments/paid-client.ts";
import {
  openPaidStage,
  type StagedPaidService,
  TEST_CHANNEL_TERMS,
  TEST_PRICE,
} from "../support/payments/paid-stage.ts";
import { runsOf } from "../support/test-depth.ts";
import { type Step, steps } from "./channel-steps.ts";

const RUNS = 120;
const DEPOSIT = 60n * TEST_PRICE;
const digests = new ChannelDigests(TEST_NETWORK);
const backend = await openPaidBackend();
const stage = await openPaidStage("in process", backend);
afterAll(async () => {
  await stage.close();
  await backend.close();
});

// A busy machine must not end the turn of a request that lives, nor the patience of the one that waits for it: of two that
// get one voucher both would run. Turns that are left over end by `endTurn`.
const PATIENT_MS = 90_000;
const LEFT_OVER_MS = 20;
const limits = { leaseMs: PATIENT_MS, correctionMs: PATIENT_MS, pollMs: 5 };
const claimRules = { valueMin: 2n * TEST_PRICE, ageSecondsMax: 3_600 };
const gateLimits = { waitMs: PATIENT_MS, failuresMax: 1_000, unpaidPerClientPerMinute: 0 };
const services = [
  await stage.serve({ channels: { limits, claimRules }, limits: gateLimits }),
  await stage.serve({ channels: { limits, claimRules }, limits: gateLimits }),
] as const;
/** To it every block is old. */
const frozen = await stage.serve({
  channels: { limits: { ...limits, blockAgeMsMax: -1 }, claimRules },
  limits: gateLimits,
});

type Payer = { readonly account: PrivateKeyAccount; readonly config: ChannelConfig };

/** The payments of one purchase by either scheme, under one name. */
async function signNamed({ account, config }: Payer, url: string, total: bigint, id: string) {
  const extensions = { "payment-identifier": { info: { required: false, id } } };
  const { payload } = await signPaymentFor(url, account, stage.asset);
  const transfer = encodePaymentSignatureHeader({ ...payload, extensions });
  return { transfer, voucher: await signVoucher(url, account, config, total, { extensions }) };
}

function signRefund({ account, config }: Payer, url: string, total: bigint, amount: bigint) {
  const wish = { type: "refund", amount: amount.toString() };
  const change = (payload: Record<string, unknown>) => ({ ...payload, ...wish });
  return signVoucher(url, account, config, total, { change });
}

/** Channels of different runs share nothing but the payee. */
let salts = 0;

async function openWorld() {
  salts += 1;
  const account = await stage.payer();
  const parties = { receiver: stage.payTo, token: stage.asset };
  const { receiverAuthorizer } = TEST_CHANNEL_TERMS;
  const salt: Hex = `0x${salts.toString(16).padStart(64, "0")}`;
  const config = channelConfigOf(account, { ...parties, receiverAuthorizer }, salt);
  const channelId = digests.channelId(config);
  await stage.inProcess.channels.deposit(await signDeposit(account, config, DEPOSIT));
  const before = await stage.balance(stage.payTo);
  /** Delivered responses, by voucher. */
  const delivered = new Map<bigint, { readonly q: number; readonly body: string }>();
  let runs = 0;

  const readRow = async () => {
    const row = (await services[0].channels?.rows.find(channelId))?.row;
    if (!row) return { charged: 0n, covered: DEPOSIT };
    const { charged, balance, refundNonce, signedRefund } = row;
    const isOpen = signedRefund !== null && signedRefund.nonce >= refundNonce;
    return { charged, covered: balance - (isOpen ? signedRefund.amount : 0n) };
  };
  const readCharged = async () => (await readRow()).charged;
  /** Payments of the payer that went to the payee without the channel. */
  const readTransferred = async () =>
    BigInt((await stage.transfersFrom(account.address)).length) * TEST_PRICE;
  /** Sends a payment as it is; null if the process dies. */
  const sendSigned = async (service: StagedPaidService, signature: string, q: number, works = true) => {
    const resource = { method: "GET", path: "/paid", query: { q: String(q) } };
    try {
      const response = await service.sale.serve({ resource, signature, client: "payer" }, async () => {
        runs += 1;
        return works ? { status: 200, body: { run: runs, q } } : { status: 503, body: {} };
      });
      const { status, body } = response;
      return { status, body: body instanceof Uint8Array ? Buffer.from(body).toString() : "" };
    } catch (error) {
      if (error instanceof Died) return null;
      throw error;
    }
  };
  const send = async (service: StagedPaidService, total: bigint, q: number, works = true) => {
    // A service that is frozen offers no channels.
    const signature = await signVoucher(`${services[0].url}/paid?q=${q}`, account, config, total);
    const response = await sendSigned(service, signature, q, works);
    if (response?.status === 200) {
      const { body } = response;
      const known = delivered.get(total);
      // The same voucher never buys two things, nor the same thing twice.
      expect(known ?? { q, body }).toEqual({ q, body });
      delivered.set(total, { q, body });
    }
    return response?.status ?? null;
  };
  /** A dead process, or a client that was corrected, keeps the channel from the next request for a moment only. */
  const endTurn = () =>
    stage.database.query({
      text: `update payment_channels set lease_until = now() + $2 * interval '1 millisecond'
        where channel_id = $1 and owner is not null`,
      values: [channelId, LEFT_OVER_MS],
    });

  return {
    ...{ channelId, before, delivered, readRow, readCharged, readTransferred },
    ...{ account, config, send, sendSigned, endTurn, runs: () => runs },
  };
}

type World = Awaited<ReturnType<typeof openWorld>>;

async function play(list: readonly Step[]): Promise<void> {
  const world = await openWorld();
  for (const step of list) {
    await take(world, step);
    await world.endTurn();
    const claimed = (await stage.balance(stage.payTo)) - world.before - (await world.readTransferred());
    expect(claimed).toBeLessThanOrEqual(await world.readCharged());
  }
  await finish(world);
}

async function take(world: World, step: Step): Promise<void> {
  const { delivered, readRow, readCharged, send, runs } = world;
  const { charged, covered } = await readRow();
  const isCovered = charged + TEST_PRICE <= covered;
  if (step.do === "buy") {
    const total = charged + TEST_PRICE * BigInt(1 + step.ahead);
    if (total <= 0n) return;
    const revive = killAt(services[step.process], step.death);
    const status = await send(services[step.process], total, step.q, step.works);
    revive();
    if (step.death === null && step.ahead === 0) {
      expect(status).toBe(!isCovered ? 402 : step.works ? 200 : 503);
    }
    if (step.ahead > 0) expect(await readCharged()).toBe(charged);
  } else if (step.do === "twice") {
    const total = charged + TEST_PRICE;
    const runsBefore = runs();
    const both = await Promise.all(services.map((service) => send(service, total, step.q)));
    expect([both, runs() - runsBefore]).toEqual(isCovered ? [[200, 200], 1] : [[402, 402], 0]);
  } else if (step.do === "replay") {
    const [total, known] = [...delivered][step.of % Math.max(1, delivered.size)] ?? [];
    if (total === undefined || known === undefined) return;
    const q = step.q ?? known.q;
    const runsBefore = runs();
    expect(await send(services[step.process], total, q)).toBe(q === known.q ? 200 : 402);
    expect([runs(), await readCharged()]).toEqual([runsBefore, charged]);
  } else if (step.do === "refund") {
    const amount = covered - charged - BigInt(step.leaving) * TEST_PRICE;
    if (amount <= 0n) return;
    const revive = killAt(services[step.process], step.death);
    const { url } = services[step.process];
    const wish = await signRefund(world, `${url}/paid?q=0`, charged, amount);
    await world.sendSigned(services[step.process], wish, 0);
    revive();
    const row = await readRow();
    expect([row.charged, row.covered >= charged]).toEqual([charged, true]);
  } else if (step.do === "frozen") {
    const runsBefore = runs();
    expect(await send(frozen, charged + TEST_PRICE, step.q)).toBe(503);
    expect([runs(), await readCharged()]).toEqual([runsBefore, charged]);
  } else if (step.do === "named") {
    if (isCovered) await buyNamed(world, step, charged + TEST_PRICE);
  } else {
    const revive = killAt(services[step.process], step.death);
    await services[step.process].gate.reconcile().catch(() => undefined);
    revive();
  }
}

let names = 0;

/** One purchase is paid for by a voucher and by a transfer: it costs once, and both get its response. */
async function buyNamed(
  world: World,
  { first, q, process, death }: Extract<Step, { do: "named" }>,
  total: bigint,
): Promise<void> {
  const { readCharged, readTransferred, sendSigned, endTurn } = world;
  names += 1;
  const service = services[process];
  const before = (await readCharged()) + (await readTransferred());
  const signed = await signNamed(
    world,
    `${service.url}/paid?q=${q}`,
    total,
    `purchase-under-a-name-${names}`,
  );
  if (first === "both") {
    await Promise.all([
      sendSigned(services[0], signed.voucher, q),
      sendSigned(services[1], signed.transfer, q),
    ]);
  } else if (first === "voucher") {
    const revive = killAt(service, death);
    await sendSigned(service, signed.voucher, q);
    revive();
  } else {
    await sendSigned(service, signed.transfer, q);
  }
  await endTurn();
  const responses = [
    await sendSigned(service, signed.transfer, q),
    await sendSigned(service, signed.voucher, q),
  ];
  expect(responses).toEqual([responses[0], responses[0]]);
  expect(responses[0]?.status).toBe(200);
  expect((await readCharged()) + (await readTransferred()) - before).toBe(TEST_PRICE);
}

async function finish(world: World): Promise<void> {
  const { channelId, before, delivered, readCharged, send } = world;
  // A purchase that was charged for a process that died is delivered now: its client sends the same again.
  const charged = await readCharged();
  const { rows } = await stage.database.query<{ cumulative: string; q: string; is_named: boolean }>({
    text: "select cumulative::text, convert_from(answer_body, 'utf8')::json ->> 'q' as q, payment_id is not null as is_named from channel_purchases where channel_id = $1",
    values: [channelId],
  });
  const named = rows.filter(({ is_named }) => is_named).length;
  for (const { cumulative, q, is_named } of rows) {
    if (is_named) continue;
    expect(await send(services[1], BigInt(cumulative), Number(q))).toBe(200);
  }
  expect(BigInt(delivered.size + named) * TEST_PRICE).toBe(charged);
  // A claim that a dead process has sent, or was about to send, is waited for.
  await stage.database.query(
    "update channel_transactions set created_at = now() - interval '2 minutes' where is_open",
  );
  await services[1].claims?.claimNow(null);
  expect((await stage.balance(stage.payTo)) - before - (await world.readTransferred())).toBe(charged);
}

it("charges exactly what it delivers, and claims exactly what it charges, at whichever statement a process dies", async () => {
  await fc.assert(fc.asyncProperty(fc.array(steps, { minLength: 4, maxLength: 12 }), play), {
    numRuns: runsOf(RUNS),
    endOnFailure: true,
  });
}, 300_000);
