// Every path through the payment flow: its states, its statements and its response; and what a crash leaves behind.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { FLOW, type FlowStateName } from "../../src/payments/paywall/flow-states.ts";
import { type Database, openDatabase } from "../../src/store/postgres/database.ts";
import { migrate } from "../../src/store/postgres/migrate.ts";
import { migrations } from "../../src/store/postgres/migrations.ts";
import { createTestDatabase } from "../support/database/test-database.ts";
import { insertLedgerRow } from "../support/payments/ledger-rows.ts";
import { silentLog } from "../support/quiet-log.ts";
import { runsOf } from "../support/test-depth.ts";
import { type ModelRequest, type ModelResponse, ModelWorld, nonceOf } from "./model-gate.ts";

let database: Database;
/** Another pool of connections to the same database, as another process has one. */
let otherPool: Database;
let drop: () => Promise<void>;
let world: ModelWorld;
/** All transitions that the requests of this file made. */
const taken = new Set<string>();

beforeAll(async () => {
  const place = await createTestDatabase();
  const options = { schema: "sextant", poolMax: 4, log: silentLog, applicationName: "test" };
  database = await openDatabase({ ...options, connection: place.connection });
  otherPool = await openDatabase({ ...options, connection: place.connection });
  await migrate(database, migrations, silentLog);
  drop = async () => {
    await database.close();
    await otherPool.close();
    await place.drop();
  };
});
afterAll(() => drop());
beforeEach(() => {
  world = new ModelWorld(database);
});
afterEach(() => database.query("delete from payments"));

async function request(options: ModelRequest = {}): Promise<ModelResponse> {
  const response = await world.request(options);
  response.path.slice(1).forEach((to, i) => {
    taken.add(`${response.path[i]} → ${to}`);
  });
  return response;
}

const ID = "identifier-0123456789";
const notFound = async () => ({ status: 404, body: { error: "Not found." } });
const SOLD = '{"sold":true}';
const WORK = ["verifying", "admitting", "running", "storing", "settling", "done"] as const;
const PURCHASE = ["opening", ...WORK] as const;
const CARRIED = ["admitting", "running", "storing", "settling", "done"] as const;
const RESUME = ["opening", "deciding", "reclaiming", "resuming"] as const;
const JOIN = ["opening", "findingHolder", "joining"] as const;
const SHORT = { limits: { waitMs: 60 } };
const AHEAD_MS = 3_595_000;
const LONG_AHEAD_MS = 4_205_000;

const RECLAIM = /coalesce\(payment_id/;
const DELETE = /^with deleted/;
const ADMIT = /^with marked/;
const STORE = /answer_status = /;

/** Another process takes the row with this nonce. */
const takeOver = (nonce = 1) =>
  database.query({
    text: "update payments set owner = 'another', lease_until = now() + interval '1 minute' where nonce = $1",
    values: [nonceOf(nonce)],
  });

type Path = readonly [
  name: string,
  /** Brings the ledger into the state that the request finds. */
  prepare: (() => Promise<unknown>) | null,
  request: ModelRequest,
  expected: {
    readonly path: readonly FlowStateName[];
    readonly status: number;
    /** Left out if a poll makes it a matter of time. */
    readonly statements?: number;
  },
];

const consumedElsewhere = {
  findSettlement: async () => ({
    kind: "consumed-elsewhere" as const,
    at: { number: 100, hash: nonceOf(100), timestamp: 0 },
    final: true,
  }),
};
const unused = {
  findSettlement: async () => ({
    kind: "unused" as const,
    at: { number: 100, hash: nonceOf(100), timestamp: 0 },
    final: null,
  }),
};
const carriedOut = async () => world.carryOut({});
const failed = () => request({ handler: notFound });
/** The payer is known, and may have several payments at once. */
const hasPaid = (at = 999) =>
  insertLedgerRow(database, {
    ...{ state: "settled", settled: true, verified: true, final: true, nonce: nonceOf(at) },
    transaction: nonceOf(at),
  });
const failedWithIdentifier = () => request({ handler: notFound, paymentId: ID });

const PATHS: readonly Path[] = [
  ["the first purchase of a payer", null, {}, { path: PURCHASE, status: 200, statements: 5 }],
  [
    "a purchase of a payer who has paid before",
    () => hasPaid(),
    {},
    { path: PURCHASE, status: 200, statements: 4 },
  ],
  [
    "a forged payment",
    null,
    { isForged: true },
    { path: ["opening", "verifying", "tracing", "done"], status: 402, statements: 2 },
  ],
  [
    "an unavailable facilitator",
    null,
    { verify: "lost" },
    { path: ["opening", "verifying", "done"], status: 503, statements: 2 },
  ],
  [
    "a handler that fails",
    null,
    { handler: notFound },
    { path: ["opening", "verifying", "admitting", "running", "done"], status: 404, statements: 4 },
  ],
  [
    "a payment to another account",
    null,
    { payTo: `0x${"99".repeat(20)}` },
    { path: ["opening", "done"], status: 402, statements: 1 },
  ],
  [
    "a payer with too many failures",
    failed,
    { nonce: 2, limits: { failuresMax: 1 } },
    { path: ["opening", "done"], status: 429, statements: 1 },
  ],
  [
    "a retry of a payer with too many failures",
    failed,
    { limits: { failuresMax: 1 } },
    { path: ["opening", "deciding", "done"], status: 429, statements: 1 },
  ],
  [
    "a retry after a handler failed",
    failed,
    {},
    { path: ["opening", "deciding", "reclaiming", ...WORK], status: 200, statements: 6 },
  ],
  ["an unknown outcome", null, { settle: "lost request" }, { path: PURCHASE, status: 503, statements: 5 }],
  ["a rejected settlement", null, { settle: "rejected" }, { path: PURCHASE, status: 503, statements: 5 }],
  [
    "a retry whose transfer is on chain",
    () => request({ settle: "lost response" }),
    {},
    { path: [...RESUME, "replaying", "done"], status: 200, statements: 4 },
  ],
  [
    "a retry that sends the transfer again",
    () => request({ settle: "lost request" }),
    {},
    { path: [...RESUME, "replaying", "done"], status: 200, statements: 5 },
  ],
  [
    "a retry with an unknown outcome again",
    () => request({ settle: "lost request" }),
    { settle: "lost request" },
    { path: [...RESUME, "done"], status: 503, statements: 4 },
  ],
  [
    "a replay",
    () => request(),
    {},
    { path: ["opening", "deciding", "replaying", "done"], status: 200, statements: 2 },
  ],
  [
    "a replay whose response was pruned",
    async () => {
      await request();
      await database.query("update payments set answer_body = null");
    },
    {},
    { path: ["opening", "deciding", "replaying", "done"], status: 409, statements: 2 },
  ],
  [
    "the same signature for another request",
    () => request(),
    { path: "/other" },
    { path: ["opening", "deciding", "done"], status: 409, statements: 1 },
  ],
  [
    "a new authorization under a paid identifier",
    () => request({ paymentId: ID }),
    { nonce: 2, paymentId: ID },
    { path: [...JOIN, "verifyingPayer", "replaying", "done"], status: 200, statements: 3 },
  ],
  [
    "a forged authorization under a paid identifier",
    () => request({ paymentId: ID }),
    { nonce: 2, paymentId: ID, isForged: true },
    { path: [...JOIN, "verifyingPayer", "done"], status: 402, statements: 2 },
  ],
  [
    "an identifier of another request",
    () => request({ paymentId: ID }),
    { nonce: 2, paymentId: ID, path: "/other" },
    { path: [...JOIN, "done"], status: 409, statements: 2 },
  ],
  [
    "a new authorization whose holder is on chain",
    () => request({ paymentId: ID, settle: "lost response" }),
    { nonce: 2, paymentId: ID },
    {
      path: [...JOIN, "verifyingPayer", "finishingHolder", "replaying", "done"],
      status: 200,
      statements: 5,
    },
  ],
  [
    "a new authorization whose holder stays unknown",
    () => request({ paymentId: ID, settle: "lost request" }),
    { nonce: 2, paymentId: ID, settle: "lost request" },
    { path: [...JOIN, "verifyingPayer", "finishingHolder", "done"], status: 503, statements: 5 },
  ],
  [
    "a new authorization whose holder can no longer be charged",
    () => request({ paymentId: ID, settle: "lost request" }),
    { nonce: 2, paymentId: ID, lookup: consumedElsewhere },
    { path: [...JOIN, "verifyingPayer", "finishingHolder", "waiting", ...PURCHASE], status: 200 },
  ],
  [
    "a new authorization whose holder failed",
    failedWithIdentifier,
    { nonce: 2, paymentId: ID },
    { path: [...JOIN, "verifyingPayer", "finishingHolder", "waiting", ...PURCHASE], status: 200 },
  ],
  [
    "a new authorization whose holder failed and was carried out by someone else",
    async () => {
      await failedWithIdentifier();
      await carriedOut();
    },
    { nonce: 2, paymentId: ID },
    {
      path: [
        ...[...JOIN, "verifyingPayer", "finishingHolder"],
        ...(["opening", "deciding", "reclaiming", "verifying", "tracing", ...CARRIED] as const),
      ] as const,
      status: 200,
      statements: 7,
    },
  ],
  [
    "a new authorization whose holder failed and cannot be found",
    failedWithIdentifier,
    { nonce: 2, paymentId: ID, lookup: { findSettlement: () => Promise.reject(new Error("no node")) } },
    { path: [...JOIN, "verifyingPayer", "finishingHolder", "done"], status: 503, statements: 2 },
  ],
  [
    "a new authorization whose holder is worked on",
    async () => {
      await failedWithIdentifier();
      await takeOver();
    },
    { nonce: 2, paymentId: ID, ...SHORT },
    { path: [...JOIN, "waiting", "done"], status: 503 },
  ],
  [
    "a payment that another request finishes with",
    async () => {
      await failed();
      await database.query(
        "update payments set owner = 'another', lease_until = now() + interval '100 milliseconds'",
      );
    },
    {},
    {
      path: ["opening", "deciding", "waiting", "opening", "deciding", "reclaiming", ...WORK],
      status: 200,
    },
  ],
  [
    "an unverified row with the same nonce",
    () => insertLedgerRow(database, { nonce: nonceOf(1), payment_digest: "forged" }),
    {},
    { path: ["opening", "deciding", "discarding", "waiting", ...PURCHASE], status: 200 },
  ],
  [
    "a retry that expires too soon",
    failed,
    { aheadMs: AHEAD_MS },
    { path: ["opening", "deciding", "reclaiming", "tracing", "done"], status: 503, statements: 3 },
  ],
  [
    "a retry that expires too soon, taken by another process",
    failed,
    { aheadMs: AHEAD_MS, ...SHORT, interrupt: { before: RECLAIM, run: takeOver } },
    { path: ["opening", "deciding", "reclaiming", "waiting", "done"], status: 503 },
  ],
  [
    "a payment that expires too soon, and that no key signed",
    carriedOut,
    { aheadMs: AHEAD_MS },
    { path: ["opening", "done"], status: 503, statements: 1 },
  ],
  [
    "a payment that expires too soon",
    null,
    { aheadMs: AHEAD_MS, isKeySigned: true },
    { path: ["opening", "tracing", "done"], status: 503, statements: 2 },
  ],
  [
    "a payment that expires too soon, carried out by someone else",
    carriedOut,
    { aheadMs: AHEAD_MS, isKeySigned: true },
    { path: ["opening", "tracing", ...CARRIED], status: 200, statements: 4 },
  ],
  [
    "a payment that expired long ago, carried out by someone else",
    carriedOut,
    { aheadMs: LONG_AHEAD_MS },
    { path: ["opening", "done"], status: 402, statements: 1 },
  ],
  [
    "a payment that someone else carried out",
    carriedOut,
    {},
    { path: ["opening", "verifying", "tracing", ...CARRIED], status: 200, statements: 4 },
  ],
  [
    "a payment that someone else carried out, for work that fails",
    carriedOut,
    { handler: notFound },
    {
      path: ["opening", "verifying", "tracing", "admitting", "running", "done"],
      status: 404,
      statements: 3,
    },
  ],
  [
    "a payment that someone else carried out, and a node that is behind",
    carriedOut,
    { lookup: unused },
    { path: ["opening", "verifying", "tracing", "done"], status: 503, statements: 2 },
  ],
  [
    "a payment that someone else carried out, with another signature",
    carriedOut,
    { lookup: { isContractSignature: async () => false } },
    { path: ["opening", "verifying", "tracing", "done"], status: 402, statements: 2 },
  ],
  [
    "a retry whose payment someone else carried out",
    async () => {
      await failed();
      await carriedOut();
    },
    { aheadMs: AHEAD_MS },
    { path: ["opening", "deciding", "reclaiming", "tracing", ...CARRIED], status: 200, statements: 5 },
  ],
  [
    "a payment taken over while it is traced",
    carriedOut,
    { lookup: consumedElsewhere, interrupt: { before: DELETE, run: takeOver } },
    { path: ["opening", "verifying", "tracing", "done"], status: 503, statements: 2 },
  ],
  [
    "a retry that another process takes first",
    failed,
    { ...SHORT, interrupt: { before: RECLAIM, run: takeOver } },
    { path: ["opening", "deciding", "reclaiming", "waiting", "done"], status: 503 },
  ],
  [
    "a retry with an identifier that another process takes first",
    failedWithIdentifier,
    { paymentId: ID, ...SHORT, interrupt: { before: RECLAIM, run: takeOver } },
    { path: ["opening", "deciding", "reclaiming", "findingHolder", "waiting", "done"], status: 503 },
  ],
  [
    "a payment taken over before it is admitted",
    null,
    { interrupt: { before: ADMIT, run: takeOver } },
    { path: ["opening", "verifying", "admitting", "done"], status: 503, statements: 2 },
  ],
  [
    "a payer with too many payments at once",
    () =>
      insertLedgerRow(database, { nonce: nonceOf(2), verified: true, owner: "another", lease_seconds: 60 }),
    { limits: { activePerPayerMax: 1 } },
    { path: ["opening", "verifying", "admitting", "done"], status: 429, statements: 4 },
  ],
  [
    "a payment taken over while its handler runs",
    null,
    { interrupt: { before: STORE, run: takeOver } },
    {
      path: ["opening", "verifying", "admitting", "running", "storing", "done"],
      status: 503,
      statements: 4,
    },
  ],
];

describe("the flow of a payment", () => {
  it.each(PATHS)("takes the documented path for %s", async (_name, prepare, options, expected) => {
    await prepare?.();
    const { path, status, statements, body } = await request(options);
    expect({ path, status }).toEqual({ path: expected.path, status: expected.status });
    if (expected.statements !== undefined) expect(statements).toBe(expected.statements);
    if (status === 200) expect(body).toBe(SOLD);
    expect(world.chain.transfers.size).toBeLessThanOrEqual(1);
  });

  it("waits for a payment that another request inserts at the same moment", async () => {
    let sent: Promise<ModelResponse> | undefined;
    await database.transaction(async (session) => {
      await insertLedgerRow(session as unknown as Database, {
        nonce: nonceOf(1),
        payment_digest: "forged",
      });
      sent = request();
      // The insert of the request waits for this transaction.
      const waiting =
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      await vi.waitFor(async () => expect((await database.query(waiting)).rows).toHaveLength(1));
    });
    const { path, status } = (await sent) ?? { path: [], status: 0 };
    expect(path.slice(0, 3)).toEqual(["opening", "waiting", "opening"]);
    expect([status, world.chain.transfers.size]).toEqual([200, 1]);
  });
});

describe("a process that dies", () => {
  const endLeases = () => database.query("update payments set lease_until = now() - interval '1 second'");
  const STATES = [null, "reserved", "reserved", "reserved", "settling", "settled"] as const;
  const cases = [1, 2, 3, 4, 5].flatMap((statement) =>
    (["before", "after"] as const).map((when) => ({ statement, when })),
  );

  it.each(cases)("charges a payment once whose process dies $when statement $statement", async (dies) => {
    expect((await request({ dies })).status).toBeNull();
    const { rows } = await database.query<{ state: string }>("select state from payments");
    const written = dies.when === "after" ? dies.statement : dies.statement - 1;
    expect(rows[0]?.state ?? null).toBe(STATES[written]);
    // Money moves only after the response is stored.
    expect(world.chain.transfers.size).toBe(dies.statement === 5 ? 1 : 0);
    await endLeases();
    const again = await request();
    expect([again.status, again.body]).toEqual([200, SOLD]);
    const replay = await request();
    expect([replay.status, replay.body]).toEqual([200, SOLD]);
    expect(world.chain.transfers.size).toBe(1);
  });

  it.each(cases.filter(({ statement }) => statement < 4))(
    "sells a payment that someone else carries out after its process died $when statement $statement",
    async (dies) => {
      expect((await request({ dies })).status).toBeNull();
      world.carryOut({});
      await endLeases();
      const again = await request();
      expect([again.status, again.body]).toEqual([200, SOLD]);
      expect(world.chain.transfers.size).toBe(1);
    },
  );

  it("finishes a payment by reconciliation whose process died after the transfer was sent", async () => {
    await request({ dies: { statement: 5, when: "before" } });
    await endLeases();
    expect(await world.process({}).gate.reconcile()).toMatchObject({ found: 1 });
    const replay = await request();
    expect([replay.status, replay.body, replay.statements]).toEqual([200, SOLD, 2]);
  });

  it("does not charge a payment by reconciliation whose process died before the transfer", async () => {
    await request({ dies: { statement: 4, when: "after" } });
    await endLeases();
    await world.process({}).gate.reconcile();
    expect(world.chain.transfers.size).toBe(0);
  });
});

it("two processes that admit one payer at once never run more handlers than allowed", async () => {
  const ROUNDS = runsOf(50);
  const MAX = 10;
  const EACH = 8;
  const resource = { method: "GET", path: "/paid", query: {} };
  let nonce = 1_000;
  for (let each = 1; each < MAX; each += 1) await hasPaid(900 + each);
  for (let round = 0; round < ROUNDS; round += 1) {
    let running = 0;
    let ended = 0;
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const handler = async () => {
      running += 1;
      await finished;
      return { status: 404, body: {} };
    };
    const limits = { activePerPayerMax: MAX, failuresMax: 1_000_000 };
    const sales = [database, otherPool].map((pool) => new ModelWorld(pool).process({ limits }).sale);
    const all = sales.flatMap((sale) =>
      Array.from({ length: EACH }, async () => {
        nonce += 1;
        return sale
          .serve({ resource, signature: await world.header({ nonce }), client: "192.0.2.1" }, handler)
          .then(({ status }) => {
            ended += 1;
            return status;
          });
      }),
    );
    while (running + ended < sales.length * EACH) await new Promise((resolve) => setTimeout(resolve, 2));
    expect(running).toBeLessThanOrEqual(MAX);
    // Some get through: those that are verified at the same moment do not all reject one another.
    expect(running).toBeGreaterThan(0);
    finish();
    const statuses = await Promise.all(all);
    expect(statuses.filter((status) => status === 404)).toHaveLength(running);
    expect(statuses.filter((status) => status === 429)).toHaveLength(sales.length * EACH - running);
  }
}, 60_000);

it("every transition of the table was taken, and no other", () => {
  const listed = Object.entries(FLOW).flatMap(([from, to]) => to.map((each) => `${from} → ${each}`));
  expect([...taken].sort()).toEqual(listed.sort());
});
