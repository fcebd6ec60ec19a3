// Reads of one account against a recount of the rows and, for spending, against preflight, which computes it on its own.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { openReadStage, type ReadStage } from "./api-stage.ts";
import { ACCOUNT_SHAPE, expectShape, SESSION_KEY_SHAPE, WINDOW_SHAPE } from "./record-shapes.ts";

let stage: ReadStage;
const UNKNOWN_ADDRESS = `0x${"ab".repeat(20)}`;
const DAY = 86_400n;

beforeAll(async () => {
  stage = await openReadStage();
}, SHARED_HISTORY_MS_MAX);
afterAll(() => stage.close());

type Row = Readonly<Record<string, string>>;

const at = (alias: string, block: string) =>
  `${alias}.valid_from <= ${block} and (${alias}.valid_to is null or ${alias}.valid_to > ${block})`;

/** The head and earlier blocks at which something is spent already. */
async function someBlocks(): Promise<readonly Row[]> {
  const { block_number: head = "" } = await stage.first("select block_number from checkpoint");
  const { first = "" } = await stage.first("select min(valid_from) as first from spend_windows");
  const blocks = [0n, 1n, 2n, 3n].map((part) =>
    (BigInt(first) + ((BigInt(head) - BigInt(first)) * part) / 3n).toString(),
  );
  return stage.rows(
    `select n.block, (select b.timestamp from blocks b where b.number <= n.block order by b.number desc limit 1) as time
     from unnest(array[${blocks.join(", ")}]::bigint[]) as n(block)`,
  );
}

describe("an account", () => {
  const COUNTED: Readonly<Record<string, readonly [table: string, column: string]>> = {
    agents: ["agents", "owner"],
    intents: ["intents", "owner"],
    receipts: ["receipts", "agent"],
    policies: ["policies", "account"],
    session_keys: ["session_keys", "account"],
  };

  it("shows an account's state and the number of its records, now and then", async () => {
    const seen = { frozen: false, guarded: false, listed: false, counted: new Set<string>() };
    const accounts = await stage.rows(
      `(select distinct account from policies) union (select distinct owner from agents)
       union (select distinct agent from receipts) union (select distinct account from session_keys) limit 60`,
    );
    for (const { block = "" } of await someBlocks()) {
      for (const { account = "" } of accounts) {
        const found = await stage.body(`/accounts/0x${account.slice(2).toUpperCase()}?block=${block}`);
        expectShape(found, ACCOUNT_SHAPE);
        const policies = await stage.rows(
          `select policy_type, frozen, guardian, enabled from policies p where hex_text(account) = '${account}' and ${at("p", block)}`,
        );
        const of = (type: string) => policies.find(({ policy_type }) => policy_type === type);
        const guardian = of("GUARDIAN")?.guardian ?? null;
        expect(found).toMatchObject({
          account,
          frozen: of("ACCOUNT_FROZEN")?.frozen ?? false,
          guardian: guardian === `0x${"0".repeat(40)}` ? null : guardian,
          function_allowlist_enabled: of("FUNCTION_ALLOWLIST_MODE")?.enabled ?? false,
        });
        const counts: Record<string, string> = {};
        for (const [name, [table, column]] of Object.entries(COUNTED)) {
          const { count = "" } = await stage.first(
            `select count(*) from ${table} r where hex_text(${column}) = '${account}' and ${at("r", block)}`,
          );
          counts[name] = count;
          if (count !== "0") seen.counted.add(name);
        }
        expect(found.counts).toEqual(counts);
        seen.frozen ||= found.frozen === true;
        seen.guarded ||= found.guardian !== null;
        seen.listed ||= found.function_allowlist_enabled === true;
      }
    }
    expect(seen).toEqual({
      frozen: true,
      guarded: true,
      listed: true,
      counted: new Set(Object.keys(COUNTED)),
    });
  });

  it("shows an unknown account without records, and not as an error", async () => {
    expect(await stage.body(`/accounts/${UNKNOWN_ADDRESS}`)).toEqual({
      account: UNKNOWN_ADDRESS,
      frozen: false,
      guardian: null,
      function_allowlist_enabled: false,
      counts: { agents: "0", intents: "0", receipts: "0", policies: "0", session_keys: "0" },
    });
    for (const list of ["windows", "session-keys"]) {
      expect(await stage.body(`/accounts/${UNKNOWN_ADDRESS}/${list}`)).toEqual({
        account: UNKNOWN_ADDRESS,
        [list.replace("-", "_")]: [],
        pagination: { limit: 50, offset: 0, count: 0 },
      });
    }
  });

  it("counts the records of an account up to a thousand, and says null beyond", async () => {
    const insert = (table: string, columns: string, values: string, count: number) =>
      stage.database.query(
        `insert into ${table} (account, ${columns}, block_number, tx_hash, log_index, valid_from)
         select decode('${"cd".repeat(19)}' || lpad(to_hex(${count} - 1000), 2, '0'), 'hex'), ${values}, 1, '\\x', 0, 1 from generate_series(1, ${count}) i`,
      );
    for (const count of [1_000, 1_001]) {
      await insert("policies", "policy_type, policy_subject", "'TARGET_ALLOWLIST', i::text", count);
      await insert(
        "session_keys",
        "session_key, expires_at, active",
        "decode(lpad(i::text, 40, '0'), 'hex'), 1, true",
        count,
      );
    }
    const { block_number: head = "" } = await stage.first("select block_number from checkpoint");
    for (const query of ["", `?block=${head}`]) {
      const countsOf = async (last: string) =>
        (await stage.body(`/accounts/0x${"cd".repeat(19)}${last}${query}`)).counts;
      expect(await countsOf("00")).toMatchObject({ policies: "1000", session_keys: "1000" });
      expect(await countsOf("01")).toMatchObject({ policies: null, session_keys: null });
    }
    for (const table of ["policies", "session_keys"])
      await stage.database.query(`delete from ${table} where hex_text(account) like '0x${"cd".repeat(19)}%'`);
  });

  it.each(["", "/windows", "/session-keys"])(
    "rejects what is not an address: /accounts/…%s",
    async (rest) => {
      for (const address of ["0x12", "me", `0x${"ab".repeat(32)}`])
        expect((await stage.get(`/accounts/${address}${rest}`)).status).toBe(400);
    },
  );
});

describe("spending windows", () => {
  it("computes spending windows from the last spends and the block's time", async () => {
    const seen = new Set<string>();
    const accounts = await stage.rows(
      "select distinct account from policies where policy_type in ('SPEND_LIMIT', 'PAYMENT_POLICY')",
    );
    for (const { block = "", time = "" } of await someBlocks()) {
      for (const { account = "" } of accounts) {
        const url = `/accounts/${account}/windows?block=${block}`;
        const { records } = await stage.page(`${url}&limit=100`, "windows");
        const rows = await stage.rows(
          `select p.*, s.spent as token_spent, s.window_start as token_start, w.spent as payment_spent, w.window_start as payment_start
           from policies p
           left join spend_windows s on p.policy_type = 'SPEND_LIMIT' and s.account = p.account and s.token = p.token and ${at("s", block)}
           left join payment_windows w on p.policy_type = 'PAYMENT_POLICY' and (w.account, w.merchant, w.token, w.facilitator) = (p.account, p.merchant, p.token, p.facilitator) and ${at("w", block)}
           where hex_text(p.account) = '${account}' and p.policy_type in ('SPEND_LIMIT', 'PAYMENT_POLICY') and ${at("p", block)}
           order by p.policy_type, p.policy_subject`,
        );
        for (const each of records) expectShape(each, WINDOW_SHAPE);
        expect(records).toEqual(rows.map((row) => expectedWindow(row, BigInt(time))));
        expect(await stage.pages(url, "windows", 2)).toEqual(records);
        for (const { policy_type, window_start, max_per_day } of records)
          seen
            .add(`${policy_type} ${window_start === null ? "closed" : "open"}`)
            .add(max_per_day === null ? "without limit" : "with limit");
      }
    }
    expect([...seen]).toEqual(
      expect.arrayContaining(["SPEND_LIMIT open", "SPEND_LIMIT closed", "PAYMENT_POLICY open", "with limit"]),
    );
  });

  function expectedWindow(row: Row, time: bigint): Readonly<Record<string, unknown>> {
    const start = row.token_start ?? row.payment_start ?? null;
    const isOpen = start !== null && time < BigInt(start) + DAY;
    const spent = isOpen ? BigInt(row.token_spent ?? row.payment_spent ?? "") : 0n;
    const limit = BigInt(row.max_per_day ?? "0");
    const left = limit > spent ? limit - spent : 0n;
    const orNull = (value: string | null | undefined) => (value === "0" ? null : (value ?? null));
    return {
      policy_type: row.policy_type,
      token: row.token,
      merchant: row.merchant,
      facilitator: row.facilitator,
      max_per_payment: orNull(row.max_per_payment),
      max_per_day: orNull(row.max_per_day),
      allowed: row.allowed,
      spent: spent.toString(),
      remaining: limit === 0n ? null : left.toString(),
      window_start: isOpen ? start : null,
      resets_at: isOpen ? (BigInt(start) + DAY).toString() : null,
      block_number: row.block_number,
    };
  }

  it("shows the spending windows that preflight counts with", async () => {
    let compared = 0;
    for (const { block = "" } of await someBlocks()) {
      for (const { account = "", token = "" } of await stage.rows(
        "select distinct account, token from spend_windows limit 20",
      )) {
        const { records } = await stage.page(`/accounts/${account}/windows?block=${block}`, "windows");
        const window = records.find((each) => each.policy_type === "SPEND_LIMIT" && each.token === token);
        if (window === undefined) continue;
        const data = `0xa9059cbb${"0".repeat(64)}${"1".padStart(64, "0")}`;
        const { body } = await stage.client.call(`/preflight?block=${block}`, {
          method: "POST",
          body: { account, target: token, data },
        });
        const { spend_checks } = body as { spend_checks: readonly Row[] };
        const { spent, remaining, max_per_day } = window;
        expect(spend_checks.find((each) => each.token === token)).toMatchObject({
          spent,
          remaining,
          max_per_day,
        });
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(3);
  });
});

describe("session keys", () => {
  it("shows session keys as of the block's time, the second of their end included", async () => {
    const seen = new Set<unknown>();
    const accounts = await stage.rows("select distinct account from session_keys limit 20");
    const { start_block = "" } = await stage.first("select start_block from deployment");
    const blocks = await stage.rows(
      `select number as block, timestamp as time from blocks where number >= ${start_block} order by random() limit 10`,
    );
    expect(accounts.length).toBeGreaterThan(0);
    for (const { block = "", time = "" } of [...blocks, ...(await someBlocks())]) {
      for (const { account = "" } of accounts) {
        const { records } = await stage.page(
          `/accounts/${account}/session-keys?block=${block}`,
          "session_keys",
        );
        const rows = await stage.rows(
          `select session_key, expires_at, active, block_number from session_keys k where hex_text(account) = '${account}' and ${at("k", block)} order by session_key`,
        );
        for (const each of records) expectShape(each, SESSION_KEY_SHAPE);
        expect(records.map(({ state: _state, ...rest }) => rest)).toEqual(rows);
        for (const { state, active, expires_at } of records) {
          const lives = BigInt(time) <= BigInt(String(expires_at));
          expect(state).toBe(active === false ? "WITHDRAWN" : lives ? "ACTIVE" : "EXPIRED");
          seen.add(state);
        }
      }
    }
    expect(seen).toContain("ACTIVE");
    const owner = `0x${"ef".repeat(20)}`;
    await stage.database.query(
      `insert into session_keys (account, session_key, expires_at, active, block_number, tx_hash, log_index, valid_from)
       select '\\x${owner.slice(2)}', decode(lpad(i::text, 40, '0'), 'hex'), block_timestamp - i, true, 1, '\\x', 0, 1 from checkpoint, generate_series(0, 1) i`,
    );
    const { records } = await stage.page(`/accounts/${owner}/session-keys`, "session_keys");
    expect(records.map(({ state }) => state)).toEqual(["ACTIVE", "EXPIRED"]);
  });
});
