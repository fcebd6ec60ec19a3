// Random histories: the ledger, the chain and the responses agree.
import fc from "fast-check";
import { type Hex, keccak256, toBytes } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { ChallengeIssuer } from "../../src/payments/mpp/challenges.ts";
import { createGate } from "../../src/payments/paywall/gate.ts";
import { type PaymentOffer, resourceFingerprint } from "../../src/payments/paywall/offer.ts";
import type { EndpointResponse } from "../../src/schema/endpoint.ts";
import type { StatementRunner } from "../../src/schema/record-store.ts";
import type { Database } from "../../src/store/postgres/database.ts";
import { openRecordStore } from "../../src/store/postgres/record-store.ts";
import { openTestDatabase } from "../support/index/test-index.ts";
import { encodeCredential, parseChallenge, testMppKey } from "../support/payments/mpp-client.ts";
import { silentLog } from "../support/quiet-log.ts";
import { runsOf } from "../support/test-depth.ts";
import { encodePayload } from "./chaos/forgeries.ts";
import { GOOD_SIGNATURE, ModelChain, type SettleFault, type VerifyFault } from "./model-chain.ts";

const RUNS = 40;
/** Stories that are played at once, each on its own database: most of their time they wait for leases and polls. */
const LANES = 4;
/** The purchase of each signature: several authorizations of one purchase share its identifier, one has none. */
const PURCHASES = [
  "first-purchase-0001",
  "first-purchase-0001",
  "other-purchase-0002",
  null,
  "first-purchase-0001",
];
const SIGNATURES = PURCHASES.length;
/** Signatures whose purchase has no other authorization: someone else may carry them out at any time. */
const ALONE = [2, 3];
/** The signature that was made for a challenge: x402 may bring it, or a credential. */
const CHALLENGED = 3;
const LEASE_MS = 80;
const payer: Hex = `0x${"11".repeat(20)}`;
const mpp = new ChallengeIssuer(testMppKey);
const offer: PaymentOffer = {
  mpp,
  network: "eip155:31337",
  asset: `0x${"22".repeat(20)}`,
  assetName: "USD Coin",
  assetVersion: "2",
  decimals: 6,
  payTo: `0x${"33".repeat(20)}`,
  amount: 10_000n,
  maxTimeoutSeconds: 60,
  description: "A snapshot.",
  mimeType: "application/json",
  resourceOrigin: "https://sold.example",
  listing: null,
};

type Death = "never" | "at work" | "requested" | "sent";
type Step =
  | {
      do: "request";
      signature: number;
      verify: VerifyFault;
      settle: SettleFault;
      death: Death;
      /** How many blocks the node of this process is behind. */
      behind: number;
      forged: boolean;
      works: boolean;
      /** Whether a payment that was made for a challenge comes as a credential. */
      byCredential?: boolean;
    }
  | { do: "carry out"; signature: number }
  | { do: "reconcile" }
  | { do: "mine" };

const requests = fc.record({
  do: fc.constant("request" as const),
  signature: fc.nat(SIGNATURES - 1),
  verify: fc.constantFrom<VerifyFault>("none", "none", "none", "lost"),
  settle: fc.constantFrom<SettleFault>(
    "none",
    "none",
    "lost request",
    "lost response",
    "lost while waiting",
    "pending",
    "rejected",
    "front-run",
    "front-run, rejected",
    "made up",
  ),
  death: fc.constantFrom<Death>("never", "never", "never", "at work", "requested", "sent"),
  behind: fc.constantFrom(0, 0, 1),
  forged: fc.constantFrom(false, false, false, true),
  works: fc.constantFrom(true, true, true, true, false),
  byCredential: fc.boolean(),
});
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: requests },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("carry out" as const), signature: fc.constantFrom(...ALONE) }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ do: "reconcile" }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: "mine" }) },
);
/** Steps of one list happen at once, the lists one after the other. */
const stories = fc.array(fc.array(steps, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 6 });

const REQUEST = {
  do: "request",
  signature: 0,
  verify: "none",
  death: "never",
  forged: false,
  works: true,
} as const;
/** Always included: cases in which a client must not get a 402, with a node that is a block behind. */
const SURE: [Step[][]][] = [
  ...(["front-run", "front-run, rejected", "rejected", "made up"] as const).map((settle): [Step[][]] => [
    [[{ ...REQUEST, settle, behind: 1 }], [{ do: "mine" }]],
  ]),
  // Someone else carries a payment out after its first try failed.
  [
    [
      [{ ...REQUEST, signature: 2, settle: "none", behind: 0, works: false }],
      [{ do: "carry out", signature: 2 }],
      [{ ...REQUEST, signature: 2, settle: "none", behind: 1 }],
    ],
  ],
];

let opened: Awaited<ReturnType<typeof openTestDatabase>>[] = [];
beforeAll(async () => {
  opened = await Promise.all(Array.from({ length: LANES }, () => openTestDatabase()));
});
afterAll(() => Promise.all(opened.map((each) => each.drop())));

type Delivered = {
  readonly signature: number;
  readonly forged: boolean;
  readonly response: EndpointResponse;
};

/** A process of its own for every request: when it dies, nothing that it still does reaches the world. */
class World {
  readonly chain = new ModelChain();
  readonly delivered: Delivered[] = [];
  /** Signatures whose last response was 402: the client will sign again, so these must never be paid. */
  readonly rejected = new Set<number>();
  readonly #open = new Map<number, number>();
  readonly #database: Database;
  #works = 0;
  readonly #validBefore = Math.floor(Date.now() / 1_000) + 3_600;
  readonly #challenge = parseChallenge(mpp.issue(offer, resourceFingerprint(this.#resourceOf(CHALLENGED))));

  constructor(database: Database) {
    this.#database = database;
  }

  #gate(step: Partial<Extract<Step, { do: "request" }>>) {
    let isDead = false;
    const die = (moment: Death) => {
      if (step.death === moment) isDead = true;
    };
    const living = openRecordStore(this.#database);
    const store: StatementRunner = {
      run: async (statement) => {
        if (isDead) throw new Error("this process is dead");
        return living.run(statement);
      },
    };
    const faults = { verify: step.verify ?? "none", settle: step.settle ?? "none" } as const;
    const gate = createGate({
      scope: offer,
      store,
      facilitator: this.chain.facilitator(faults, die),
      lookup: this.chain.settlements(step.behind ?? 0),
      log: silentLog,
      clock: { ...systemClock, nowMs: () => Date.now() },
      limits: { leaseMs: LEASE_MS, waitMs: 40, receiptMs: 0, failuresMax: 1_000, recheckMsMin: 0 },
    });
    return { gate, sale: gate.sell(offer), die, isDead: () => isDead };
  }

  nonceOf(signature: number): Hex {
    if (signature === CHALLENGED) return keccak256(toBytes(this.#challenge.id + this.#challenge.realm));
    return `0x${(signature + 1).toString(16).padStart(64, "0")}`;
  }

  /** The identifier of a purchase, or the signature itself if it has none. */
  purchaseOf(signature: number): string {
    return PURCHASES[signature] ?? `signature-${signature}`;
  }

  /** The amount that moved for the purchase of a signature. */
  transfersFor(signature: number) {
    const together = PURCHASES.map((_, each) => each).filter(
      (each) => this.purchaseOf(each) === this.purchaseOf(signature),
    );
    return together.flatMap((each) => this.chain.transfers.get(this.nonceOf(each)) ?? []);
  }

  #authorization(signature: number) {
    return {
      from: payer,
      to: offer.payTo,
      value: offer.amount.toString(),
      validAfter: "0",
      validBefore: String(
        signature === CHALLENGED ? Date.parse(this.#challenge.expires) / 1_000 : this.#validBefore,
      ),
      nonce: this.nonceOf(signature),
    };
  }

  #resourceOf(signature: number) {
    return { method: "GET", path: "/paid", query: { q: this.purchaseOf(signature) } };
  }

  #credential(forged: boolean): string {
    const signature = forged ? `0x${"bb".repeat(65)}` : GOOD_SIGNATURE;
    const payload = { type: "authorization", ...this.#authorization(CHALLENGED), signature };
    return encodeCredential({ challenge: this.#challenge, payload });
  }

  #header(signature: number, forged: boolean, named: boolean): string {
    const authorization = this.#authorization(signature);
    const accepted = { scheme: "exact", network: offer.network, asset: offer.asset };
    const id = PURCHASES[signature] ?? null;
    return encodePayload({
      x402Version: 2,
      accepted,
      ...(id !== null && named ? { extensions: { "payment-identifier": { info: { id } } } } : {}),
      payload: { authorization, signature: forged ? `0x${"bb".repeat(65)}` : GOOD_SIGNATURE },
    });
  }

  async request(
    step: Partial<Extract<Step, { do: "request" }>> & { signature: number; named?: boolean },
  ): Promise<EndpointResponse | null> {
    const { signature, forged = false, named = true, byCredential = false } = step;
    const { sale, die, isDead } = this.#gate(step);
    const resource = this.#resourceOf(signature);
    const payment =
      byCredential && signature === CHALLENGED
        ? { signature: undefined, credential: this.#credential(forged) }
        : { signature: this.#header(signature, forged, named) };
    if (!forged) this.#count(signature, 1);
    const response = await sale
      .serve({ resource, ...payment, client: "192.0.2.1" }, async () => {
        die("at work");
        if (step.works === false) return { status: 404, body: { error: "Not found." } };
        this.#works += 1;
        return { status: 200, body: { work: this.#works } };
      })
      .catch((error: unknown) => {
        if (isDead()) return null;
        throw error;
      });
    const others = forged ? 0 : this.#count(signature, -1);
    // A dead process delivers nothing.
    if (response === null || isDead()) return null;
    if (!forged && response.status === 402 && others === 0) this.rejected.add(signature);
    this.delivered.push({ signature, forged, response });
    return response;
  }

  #count(signature: number, more: 1 | -1): number {
    this.rejected.delete(signature);
    const open = (this.#open.get(signature) ?? 0) + more;
    this.#open.set(signature, open);
    return open;
  }

  async step(step: Step): Promise<void> {
    if (step.do === "mine") this.chain.mine();
    else if (step.do === "carry out") this.chain.carryOut(this.#authorization(step.signature));
    else if (step.do === "reconcile") await this.#gate({}).gate.reconcile();
    else await this.request(step);
  }

  /** Leases end, everything expires, and the rest is reconciled. */
  async end(): Promise<void> {
    await this.#database.query(
      "update payments set lease_until = now() - interval '1 second' where owner is not null",
    );
    this.chain.expireAll();
    await this.#gate({}).gate.reconcile();
  }

  total = () => this.#gate({}).gate.totalPaid();
}

const bodyOf = ({ body }: EndpointResponse) => Buffer.from(body as Uint8Array).toString();
const transactionOf = ({ headers }: EndpointResponse) =>
  (
    JSON.parse(Buffer.from(headers?.["payment-response"] ?? "", "base64").toString()) as {
      transaction: string;
    }
  ).transaction;

async function playStory(database: Database, story: readonly (readonly Step[])[]): Promise<void> {
  await database.query("delete from payments");
  const world = new World(database);
  for (const together of story) await Promise.all(together.map((step) => world.step(step)));
  await world.end();
  const { transfers } = world.chain;
  // The client of a payment that someone else carried out comes back with it.
  for (const signature of ALONE) {
    if (transfers.has(world.nonceOf(signature))) {
      expect([signature, (await world.request({ signature }))?.status]).toEqual([signature, 200]);
    }
  }
  const rows = await database.query<{ nonce: Hex; transaction: string }>(
    "select nonce, transaction from payments where state = 'settled' order by nonce",
  );
  const paid = [...transfers].map(([nonce, { transaction }]) => ({ nonce, transaction }));
  expect(rows.rows).toEqual(paid.sort((a, b) => (a.nonce < b.nonce ? -1 : 1)));
  expect(await world.total()).toBe(BigInt(transfers.size) * offer.amount);
  for (const { signature, forged, response } of world.delivered) {
    if (response.status !== 200) continue;
    expect(forged).toBe(false);
    expect([transactionOf(response)]).toEqual(
      world.transfersFor(signature).map(({ transaction }) => transaction),
    );
  }
  for (const signature of world.rejected) {
    expect([signature, transfers.has(world.nonceOf(signature))]).toEqual([signature, false]);
  }
  for (let signature = 0; signature < SIGNATURES; signature += 1) {
    const paid = world.transfersFor(signature).length;
    // One purchase is charged once, however many authorizations were sent for it.
    expect([signature, paid]).toEqual([signature, Math.min(paid, 1)]);
    const replay = await world.request({ signature });
    const isPaid = transfers.has(world.nonceOf(signature));
    if (isPaid || replay?.status === 200) {
      expect([signature, replay?.status, paid]).toEqual([signature, 200, 1]);
    }
    if (isPaid && PURCHASES[signature] !== null) {
      expect((await world.request({ signature, named: false }))?.status).toBe(409);
    }
    const sold = world.delivered.filter(
      (each) =>
        each.response.status === 200 && world.purchaseOf(each.signature) === world.purchaseOf(signature),
    );
    expect(new Set(sold.map(({ response }) => bodyOf(response))).size).toBe(
      paid > 0 && sold.length > 0 ? 1 : 0,
    );
  }
}

it("every purchase has one transfer and one response, every response its transfer, and the sums agree", async () => {
  const lanes = opened.map(({ database }, lane) =>
    fc.assert(
      fc.asyncProperty(stories, (story) => playStory(database, story)),
      {
        numRuns: runsOf(RUNS / LANES, { min: SURE.length + 1 }),
        endOnFailure: false,
        examples: lane === 0 ? SURE : [],
      },
    ),
  );
  await Promise.all(lanes);
}, 120_000);
