// Random histories of one channel over two processes that die at any statement: what is charged is what was delivered.
import fc from "fast-check";
import type { Hex } from "viem";
import { afterAll, expect, it } from "vitest";
import { ChannelDigests } from "../../src/payments/channels/channel-config.ts";
import { channelConfigOf, signDeposit, signVoucher } from "../support/payments/channel-client.ts";
import { openPaidBackend } from "../support/payments/paid-backend.ts";
import { TEST_NETWORK } from "../support/payments/paid-client.ts";
import {
  openPaidStage,
  type StagedPaidService,
  TEST_CHANNEL_TERMS,
  TEST_PRICE,
} from "../support/payments/paid-stage.ts";
import { runsOf } from "../support/test-depth.ts";

const RUNS = 160;
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
const services = [
  await stage.serve({ channels: { limits, claimRules }, limits: { waitMs: PATIENT_MS, failuresMax: 1_000 } }),
  await stage.serve({ channels: { limits, claimRules }, limits: { waitMs: PATIENT_MS, failuresMax: 1_000 } }),
] as const;

type Death = { readonly statement: number; readonly isAfter: boolean } | null;
type Step =
  | { do: "buy"; ahead: number; q: number; process: 0 | 1; death: Death; works: boolean }
  | { do: "twice"; q: number }
  | { do: "replay"; of: number; q: number | null; process: 0 | 1 }
  | { do: "claim"; process: 0 | 1; death: Death };

const death: fc.Arbitrary<Death> = fc.option(
  fc.record({ statement: fc.integer({ min: 1, max: 4 }), isAfter: fc.boolean() }),
  { freq: 2 },
);
const process_ = fc.constantFrom<0 | 1>(0, 1);
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("buy" as const),
      // Mostly the next voucher; an older or newer one must not be charged.
      ahead: fc.constantFrom(0, 0, 0, 0, -1, 1, 5),
      q: fc.nat(3),
      process: process_,
      death,
      works: fc.constantFrom(true, true, true, false),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("twice" as const), q: fc.nat(3) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("replay" as const),
      of: fc.nat(5),
      q: fc.option(fc.nat(3)),
      process: process_,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("claim" as const), process: process_, death }) },
);

class Died extends Error {}

/** Every statement after a death fails, as those of a process that is gone. */
function killAt(service: StagedPaidService, death: Death): () => void {
  let count = 0;
  let isDead = false;
  service.injected.statement = async (run) => {
    count += 1;
    if (isDead) throw new Died("it is dead");
    if (death === null || count !== death.statement) return run();
    isDead = true;
    if (death.isAfter) await run();
    throw new Died("it dies");
  };
  return () => {
    delete service.injected.statement;
  };
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
  await stage.inProcess.channels.deposit(await signDeposit(account, config, 60n * TEST_PRICE));
  const before = await stage.balance(stage.payTo);
  /** Delivered responses, by voucher. */
  const delivered = new Map<bigint, { readonly q: number; readonly body: string }>();
  let runs = 0;

  const readCharged = async () => (await services[0].channels?.rows.find(channelId))?.row.charged ?? 0n;
  const send = async (service: StagedPaidService, total: bigint, q: number, works = true) => {
    const signature = await signVoucher(`${service.url}/paid?q=${q}`, account, config, total);
    const resource = { method: "GET", path: "/paid", query: { q: String(q) } };
    try {
      const response = await service.sale.serve({ resource, signature, client: "payer" }, async () => {
        runs += 1;
        return works ? { status: 200, body: { run: runs, q } } : { status: 503, body: {} };
      });
      if (response.status === 200) {
        const body = Buffer.from(response.body as Uint8Array).toString();
        const known = delivered.get(total);
        // The same voucher never buys two things, nor the same thing twice.
        expect(known ?? { q, body }).toEqual({ q, body });
        delivered.set(total, { q, body });
      }
      return response.status;
    } catch (error) {
      if (error instanceof Died) return null;
      throw error;
    }
  };

  /** A dead process, or a client that was corrected, keeps the channel from the next request for a moment only. */
  const endTurn = () =>
    stage.database.query({
      text: `update payment_channels set lease_until = now() + $2 * interval '1 millisecond'
        where channel_id = $1 and owner is not null`,
      values: [channelId, LEFT_OVER_MS],
    });

  return { channelId, before, delivered, readCharged, send, endTurn, runs: () => runs };
}

type World = Awaited<ReturnType<typeof openWorld>>;

async function play(list: readonly Step[]): Promise<void> {
  const world = await openWorld();
  for (const step of list) {
    await take(world, step);
    await world.endTurn();
    expect((await stage.balance(stage.payTo)) - world.before).toBeLessThanOrEqual(await world.readCharged());
  }
  await finish(world);
}

async function take({ delivered, readCharged, send, runs }: World, step: Step): Promise<void> {
  const charged = await readCharged();
  if (step.do === "buy") {
    const total = charged + TEST_PRICE * BigInt(1 + step.ahead);
    if (total <= 0n) return;
    const revive = killAt(services[step.process], step.death);
    const status = await send(services[step.process], total, step.q, step.works);
    revive();
    if (step.death === null && step.ahead === 0) expect(status).toBe(step.works ? 200 : 503);
    if (step.ahead > 0) expect(await readCharged()).toBe(charged);
  } else if (step.do === "twice") {
    const total = charged + TEST_PRICE;
    const runsBefore = runs();
    const both = await Promise.all(services.map((service) => send(service, total, step.q)));
    expect([both, runs() - runsBefore]).toEqual([[200, 200], 1]);
  } else if (step.do === "replay") {
    const [total, known] = [...delivered][step.of % Math.max(1, delivered.size)] ?? [];
    if (total === undefined || known === undefined) return;
    const q = step.q ?? known.q;
    const runsBefore = runs();
    expect(await send(services[step.process], total, q)).toBe(q === known.q ? 200 : 402);
    expect([runs(), await readCharged()]).toEqual([runsBefore, charged]);
  } else {
    const revive = killAt(services[step.process], step.death);
    await services[step.process].gate.reconcile().catch(() => undefined);
    revive();
  }
}

async function finish({ channelId, before, delivered, readCharged, send }: World): Promise<void> {
  // A purchase that was charged for a process that died is delivered now: its client sends the same again.
  const charged = await readCharged();
  const { rows } = await stage.database.query<{ cumulative: string; q: string }>({
    text: "select cumulative::text, convert_from(answer_body, 'utf8')::json ->> 'q' as q from channel_purchases where channel_id = $1",
    values: [channelId],
  });
  for (const { cumulative, q } of rows) {
    expect(await send(services[1], BigInt(cumulative), Number(q))).toBe(200);
  }
  expect(BigInt(delivered.size) * TEST_PRICE).toBe(charged);
  // A claim that a dead process has sent, or was about to send, is waited for.
  await stage.database.query(
    "update channel_transactions set created_at = now() - interval '2 minutes' where is_open",
  );
  await services[1].claims?.claimNow(null);
  expect((await stage.balance(stage.payTo)) - before).toBe(charged);
}

it("charges exactly what it delivers, and claims exactly what it charges, at whichever statement a process dies", async () => {
  await fc.assert(fc.asyncProperty(fc.array(steps, { minLength: 4, maxLength: 12 }), play), {
    numRuns: runsOf(RUNS),
    endOnFailure: true,
  });
}, 300_000);
