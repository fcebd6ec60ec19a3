// A client and a service that die at any statement: the payee can never claim more than one price beyond what it delivered.
// Each purchase is charged once and delivered. channel-processes.chaos.test.ts kills processes.
import type { PrivateKeyAccount } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createSextant } from "../../packages/client/create-sextant.ts";
import { createMemoryJournal, type Journal } from "../../packages/client/journal/journal.ts";
import type { JournalRecord } from "../../packages/client/journal/records.ts";
import { TEST_PRICE } from "../support/payments/paid-stage.ts";
import { chooseSeed, seededRandom } from "../support/seeded-random.ts";
import { isFullDepth } from "../support/test-depth.ts";
import { type ClientStage, openClientStage, walletAt } from "./client-stage.ts";

/** Kills of each side. */
const KILLS = isFullDepth() ? 1_000 : 8;
// About as many as a purchase takes that also finishes the last one.
const CLIENT_STEPS = 24;
const SERVICE_STEPS = 6;
const ATTEMPTS_MAX = 100;

const seed = chooseSeed();
const random = seededRandom(seed);
const upTo = (max: number) => 1 + Math.floor(random() * max);

let stage: ClientStage;
beforeAll(async () => {
  stage = await openClientStage({
    // The chain makes no block while the calls are made, and no turn is kept for long for a client that was killed.
    channels: { exposureMax: 10n ** 12n, limits: { blockAgeMsMax: 36_000_000, correctionMs: 50 } },
    limits: { unpaidPerClientPerMinute: 0 },
  });
});
afterAll(() => stage?.close());

class Killed extends Error {}

/** A client whose process may die: what is not synced may be lost, from its end. */
class MortalClient {
  readonly synced: JournalRecord[] = [];
  readonly unsynced: JournalRecord[] = [];
  dieAt: number | null = null;
  isServiceDead = () => false;
  #steps = 0;
  #isDead = false;
  #journal: Journal = createMemoryJournal();
  sextant = createSextant({});
  readonly #account: PrivateKeyAccount;

  constructor(account: PrivateKeyAccount) {
    this.#account = account;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  #step(): void {
    this.#steps += 1;
    if (this.#isDead || this.#steps === this.dieAt) {
      this.#isDead = true;
      throw new Killed();
    }
  }

  async start(dieAt: number | null): Promise<void> {
    this.synced.push(...this.unsynced.splice(0).slice(0, Math.floor(random() * 3)));
    this.#journal = createMemoryJournal();
    await this.#journal.exclusive(async (_, append) => {
      // As after a restart of some seconds: the voucher of a process that died is no longer waited for.
      for (const record of this.synced) await append({ ...record, at: record.at - 3_000 }, { durable: true });
    });
    [this.#steps, this.#isDead, this.dieAt] = [0, false, dieAt];
    const journal = this.#journal;
    const step = () => this.#step();
    this.sextant = createSextant({
      portfolio: stage.url,
      payer: {
        address: this.#account.address,
        signTypedData: async (data) => {
          step();
          return this.#account.signTypedData(data);
        },
      },
      guard: stage.guard,
      channel: { deposit: 25n * TEST_PRICE },
      attemptsMax: 1,
      journal: {
        read: () => journal.read(),
        exclusive: (act) =>
          journal.exclusive((book, append) => act(book, (record, how) => this.#append(append, record, how))),
      },
      fetch: async (...request) => {
        step();
        const response = await fetch(...request);
        if (this.isServiceDead()) throw new TypeError("no response");
        step();
        return response;
      },
    });
  }

  async #append(
    append: (record: JournalRecord, how: { readonly durable: boolean }) => Promise<void>,
    record: JournalRecord,
    how: { readonly durable: boolean },
  ): Promise<void> {
    this.#step();
    await append(record, how);
    this.unsynced.push(record);
    if (how.durable) this.synced.push(...this.unsynced.splice(0));
    this.#step();
  }

  async signed(): Promise<bigint> {
    const channels = (await this.#journal.read()).channels.list();
    expect(channels.length).toBeLessThanOrEqual(1);
    return channels[0]?.signed ?? 0n;
  }
}

/** Lets the service die at a statement; what it held is free once its lease is over. */
function killService(at: number, isAfter: boolean) {
  let count = 0;
  let isDead = false;
  stage.service.injected.statement = async (run) => {
    count += 1;
    if (!isDead && count !== at) return run();
    if (!isDead && isAfter) await run();
    isDead = true;
    throw new Killed();
  };
  return {
    isDead: () => isDead,
    async revive() {
      delete stage.service.injected.statement;
      const text =
        "update payment_channels set lease_until = now() - interval '1 second' where owner is not null";
      await stage.paid.database.query({ text });
    },
  };
}

it(`charges each purchase once through ${KILLS} kills of client and service (seed ${seed})`, async () => {
  const { account } = await stage.payer(1_000n);
  const client = new MortalClient(account);
  await client.start(null);
  const money = await stage.paid.balance(stage.paid.payTo);
  const killed = { client: 0, service: 0 };
  let bought = 0n;
  while (killed.client < KILLS || killed.service < KILLS) {
    const request = { address: walletAt(Number(bought)) };
    for (let attempt = 1; ; attempt += 1) {
      expect(attempt).toBeLessThan(ATTEMPTS_MAX);
      const isOfClient = random() < 0.5;
      const service = isOfClient ? null : killService(upTo(SERVICE_STEPS), random() < 0.5);
      await client.start(isOfClient ? upTo(CLIENT_STEPS) : null);
      client.isServiceDead = () => service?.isDead() ?? false;
      const failure = await client.sextant.getPortfolio(request, { purchase: `p${bought}` }).then(
        () => null,
        (error: unknown) => error,
      );
      if (client.isDead) killed.client += 1;
      if (service?.isDead()) killed.service += 1;
      await service?.revive();
      expect((await client.signed()) - bought * TEST_PRICE).toBeLessThanOrEqual(TEST_PRICE);
      if (failure === null) break;
      if (!client.isDead && !service?.isDead()) throw failure;
    }
    bought += 1n;
  }
  await client.start(null);
  expect(await client.signed()).toBe(bought * TEST_PRICE);
  await stage.service.claims?.claimNow(null);
  expect((await stage.paid.balance(stage.paid.payTo)) - money).toBe(bought * TEST_PRICE);
  const { rows } = await stage.paid.database.query<{ count: string }>({
    text: "select count(*)::text as count from channel_purchases where payer = $1",
    values: [account.address.toLowerCase()],
  });
  expect(rows[0]?.count).toBe(bought.toString());
  // The line of the last purchase, and of a deposit with it, may not have been synced; the same call brings it back.
  await client.sextant.getPortfolio(
    { address: walletAt(Number(bought - 1n)) },
    { purchase: `p${bought - 1n}` },
  );
  expect(await client.signed()).toBe(bought * TEST_PRICE);
  // All that was deposited and not bought for is still the payer's.
  const [channel] = await client.sextant.channels.list();
  expect((await stage.paid.balance(account.address)) + (channel?.held ?? 0n)).toBe(1_000_000_000n);
}, 3_600_000);
