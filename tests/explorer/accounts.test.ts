// Pages of accounts, agents and preflight: what they say, for known and unknown addresses, at any block and for any input.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { type ExplorerStage, openExplorerStage } from "./explorer-stage.ts";
import { parsePage } from "./well-formed.ts";

let stage: ExplorerStage;
const UNKNOWN = `0x${"ab".repeat(20)}`;

beforeAll(async () => {
  stage = await openExplorerStage();
}, SHARED_HISTORY_MS_MAX);
afterAll(() => stage?.close());

type Row = Readonly<Record<string, string>>;

async function open(path: string, status = 200): Promise<string> {
  const response = await stage.get(path);
  const text = await response.text();
  expect(response.status, `${path} ${text.slice(0, 300)}`).toBe(status);
  parsePage(text);
  return text;
}

async function first(sql: string): Promise<Row> {
  const { rows } = await stage.database.query<Record<string, string>>(sql);
  const [row] = rows;
  if (row === undefined) throw new Error(`the simulator created nothing for: ${sql}`);
  return row;
}

async function readJson<T>(path: string): Promise<T> {
  return (await (await stage.get(path)).json()) as T;
}

async function preflight(
  body: Row,
): Promise<{ allowed: boolean; reasons: readonly string[] } & Record<string, unknown>> {
  const response = await fetch(`${stage.url}/preflight`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return (await response.json()) as never;
}

/** The text of a page without its markup. */
const textOf = (page: string) =>
  page
    .replace(/<[^>]+>/g, " ")
    .replaceAll("&#39;", "'")
    .replaceAll("&quot;", '"')
    .replace(/\s+/g, " ");

describe("an account", () => {
  it("shows what is spent of its limits, and when they reset", async () => {
    const { account = "" } = await first(
      "select account from spend_windows where valid_to is null order by window_start desc",
    );
    const { windows } = await readJson<{ windows: readonly Readonly<Record<string, string | null>>[] }>(
      `/accounts/${account}/windows`,
    );
    const page = await open(`/explorer/accounts/${account}`);
    expect(windows.length).toBeGreaterThan(0);
    const limits = /<section class="card" id="limits"[\s\S]*?<\/section>/.exec(page)?.[0] ?? "";
    expect(limits.match(/<meter/g)).toHaveLength(windows.filter((each) => each.max_per_day !== null).length);
    for (const { resets_at } of windows) {
      if (resets_at === null || resets_at === undefined) continue;
      expect(limits).toContain(`datetime="${new Date(Number(resets_at) * 1_000).toISOString()}"`);
    }
    expect(limits).toContain("no limit");
  });

  it("lists its policies, session keys, agents and receipts, and what it operates", async () => {
    const { account = "" } = await first("select account from session_keys where valid_to is null");
    const page = await open(`/explorer/accounts/${account}`);
    for (const id of ["limits", "policies", "session-keys", "agents", "intents", "receipts", "operates"])
      expect(page, id).toContain(`id="${id}"`);
    const keys = await stage.database.query<{ session_key: string }>(
      `select session_key from session_keys where valid_to is null and account = '${account}'`,
    );
    for (const { session_key } of keys.rows) expect(page).toContain(session_key);
    for (const [table, column, id, path] of [
      ["merchants", "owner", "merchant_id", "merchants"],
      ["attestors", "operator", "attestor_id", "attestors"],
    ] as const) {
      const row = await first(
        `select ${column} as account, ${id} as id from ${table} where valid_to is null`,
      );
      const operator = await open(`/explorer/accounts/${row.account}`);
      expect(operator).toContain(`href="/explorer/${path}/${row.id}"`);
    }
    const { agent = "" } = await first("select agent from receipts where valid_to is null");
    expect(await open(`/explorer/accounts/${agent}`)).toContain(`/explorer/receipts?agent=${agent}`);
  });

  it("shows an account as frozen only from the block that froze it", async () => {
    const { account = "", valid_from = "" } = await first(
      "select account, valid_from from policies where policy_type = 'ACCOUNT_FROZEN' and frozen",
    );
    expect(await open(`/explorer/accounts/${account}?block=${valid_from}`)).toContain(
      '<span class="badge bad">Frozen</span></div>',
    );
    const before = await open(`/explorer/accounts/${account}?block=${Number(valid_from) - 1}`);
    expect(before).not.toContain('<span class="badge bad">Frozen</span></div>');
    // The next change is the one that froze it.
    expect(before).toContain(`title="Next change: block ${valid_from}"`);
  });

  it("shows no number of session keys at an earlier block if there are too many versions", async () => {
    const account = `0x${"cd".repeat(20)}`;
    await stage.database.query(
      `insert into session_keys select (jsonb_populate_record(s, jsonb_build_object('account', '\\x${account.slice(2)}', 'session_key', '\\x' || lpad(to_hex(n), 40, '0')))).*
       from (select k from session_keys k where valid_to is null limit 1) one(s), generate_series(1, 1001) n`,
    );
    const keysOf = (page: string) => /Session keys\s+(\S+ \S+ \S+)/.exec(textOf(page))?.[1];
    expect(keysOf(await open(`/explorer/accounts/${account}`))).toBe("More than 1,000");
    expect(keysOf(await open(`/explorer/accounts/${account}?block=${stage.head - 1}`))).toMatch(/^–/);
  });

  it("the page of an account that the index does not know says so", async () => {
    const page = await open(`/explorer/accounts/${UNKNOWN}`);
    expect(page).toContain("The index does not know this address at this block");
    expect(page).toContain('name="target"');
    expect(page).not.toContain("<table");
  });

  it("shows an error page for an account that is not an address", async () => {
    for (const path of ["/explorer/accounts/me", "/explorer/accounts/0x12/preflight"])
      expect(await open(path, 400)).toContain("address must be an address");
  });
});

describe("an agent", () => {
  it("shows its record and the signals about it", async () => {
    const { subject_id = "", reporter = "" } = await first(
      "select s.subject_id, s.reporter from trust_signals s join agents a on a.agent_id = s.subject_id and a.valid_to is null where s.subject_type = 3",
    );
    const agent = await readJson<Row>(`/agents/${subject_id}`);
    const page = await open(`/explorer/agents/${subject_id}`);
    for (const value of [agent.owner, agent.capabilities_hash, reporter]) expect(page).toContain(value);
    expect(page).toContain("Registered");
  });

  it("says that it is revoked, and since when", async () => {
    const { agent_id = "" } = await first("select agent_id from agents where valid_to is null and revoked");
    const page = await open(`/explorer/agents/${agent_id}`);
    expect(page).toContain('<span class="badge bad">Revoked</span>');
    expect(page).toContain('<div class="step-title">Revoked</div>');
  });

  it("the menu leads to a list of all agents, newest first, which an owner or a state narrows", async () => {
    const ids = (page: string) => [...page.matchAll(/href="\/explorer\/agents\/(\d+)"/g)].map(([, id]) => id);
    const { newest } = await first("select max(agent_id)::text as newest from agents where valid_to is null");
    const [shown] = ids(await open("/explorer/agents"));
    expect(shown).toBe(newest);
    const { owner = "", agent_id } = await first("select owner, agent_id from agents where valid_to is null");
    expect(ids(await open(`/explorer/agents?owner=${owner}`))).toContain(agent_id);
    const { revoked } = await first(
      "select agent_id as revoked from agents where valid_to is null and revoked",
    );
    expect(ids(await open("/explorer/agents?revoked=true"))).toContain(revoked);
    expect(ids(await open("/explorer/agents?revoked=false"))).not.toContain(revoked);
    expect(await open("/explorer/agents?owner=me", 400)).toContain("owner must be an address");
  });
});

describe("preflight", () => {
  const pathOf = (account: string, fields: Row) =>
    `/explorer/accounts/${account}/preflight?${new URLSearchParams(fields)}`;

  it("shows the verdict of the API with every reason and each call that fixes it", async () => {
    const { account = "" } = await first("select account from policies where valid_to is null");
    const fields = { target: UNKNOWN, value: "1", data: "0x12345678" };
    const verdict = await preflight({ account, ...fields });
    const page = await open(pathOf(account, fields));
    expect(verdict.allowed).toBe(false);
    expect(page).toContain(">Not allowed<");
    expect(page.match(/<ol class="reasons">[\s\S]*?<\/ol>/)?.[0].match(/<li>/g)).toHaveLength(
      verdict.reasons.length,
    );
    const updates = verdict.required_policy_updates as readonly { to: string; data: string }[];
    expect(updates.length).toBeGreaterThan(0);
    for (const { to, data } of updates) {
      expect(page).toContain(`data-copy="${data}"`);
      expect(page).toContain(`cast send ${to} ${data} --from ${account} --chain `);
    }
    expect(page).toContain("POST /preflight");
    expect(textOf(page)).toContain(`-d '${JSON.stringify({ account, ...fields, include: "parts" })}'`);
  });

  it("allows what the policies allow, at the block that is shown", async () => {
    const rows = await stage.database.query<Record<string, string>>(
      `select p.account, p.target, p.valid_from from policies p where p.policy_type = 'TARGET_ALLOWLIST' and p.allowed
       and not exists (select from policies f where f.account = p.account and f.policy_type = 'ACCOUNT_FROZEN' and f.frozen)
       and not exists (select from policies e where (e.account, e.policy_type, e.policy_subject) = (p.account, p.policy_type, p.policy_subject) and e.valid_from < p.valid_from) limit 5`,
    );
    expect(rows.rows.length).toBeGreaterThan(0);
    for (const { account = "", target = "", valid_from = "" } of rows.rows) {
      const at = (block: number) => open(pathOf(account, { target, block: String(block) }));
      const page = await at(Number(valid_from));
      expect(page).toContain(">Allowed<");
      expect(page).not.toContain("cast send");
      expect(await at(Number(valid_from) - 1)).toContain(">Not allowed<");
    }
  });

  it("counts what a call spends against its limit", async () => {
    const { account = "", token = "" } = await first(
      "select account, token from policies where valid_to is null and policy_type = 'SPEND_LIMIT' and max_per_day > 0 and hex_text(token) !~ '^0x0+$'",
    );
    const data = `0xa9059cbb${"0".repeat(64)}${"f".repeat(64)}`;
    const page = await open(pathOf(account, { target: token, data }));
    expect(textOf(page)).toMatch(/Spending .* exceeds the daily limit of .* is spent, .* remains\./);
    expect(page).toContain("<meter");
    expect(textOf(page)).toMatch(/Remove the limit of|Raise the limit of/);
  });

  it.each([
    ["target", { target: "0x12" }, "Target must be an address"],
    ["target", { value: "1" }, "Target is required"],
    ["value", { target: UNKNOWN, value: "-1" }, "Value must be a whole number"],
    ["value", { target: UNKNOWN, value: "1.5" }, "Value must be a whole number"],
    ["data", { target: UNKNOWN, data: "0x1" }, "Data must be 0x-prefixed hex"],
    ["session-key", { target: UNKNOWN, session_key: "me" }, "Session key must be an address"],
  ])("says at the field %s what is wrong with %o", async (field, fields, message) => {
    const page = await open(pathOf(UNKNOWN, fields as Row));
    const problem = new RegExp(`<p class="problem" id="preflight-${field}-problem">([^<]*)`).exec(page)?.[1];
    expect(problem).toContain(message);
    expect(page).toMatch(new RegExp(`id="preflight-${field}"[^>]* aria-invalid="true"`));
    expect(page).not.toContain(">Verdict<");
    for (const value of Object.values(fields)) expect(page).toContain(`value="${value}"`);
  });

  it("takes hostile input as text", async () => {
    const hostile = `"><script>alert(1)</script>' onfocus='alert(2)`;
    const page = await open(
      pathOf(UNKNOWN, { target: hostile, value: hostile, data: hostile, session_key: hostile }),
    );
    expect(page).not.toContain("<script>alert");
    expect(page).not.toContain("'alert(2)");
    expect(page).toContain("Target must be an address");
  });

  it("asks for a transaction while nothing is entered", async () => {
    const page = await open(`/explorer/accounts/${UNKNOWN}/preflight`);
    expect(page).toContain("Enter a transaction");
    expect(page).not.toContain("aria-invalid");
  });
});

describe("the public key of an agent", () => {
  it("the public key of an agent can be copied, unless it is longer than a page should be", async () => {
    const { agent_id = "" } = await first(
      "select agent_id from agents where valid_to is null order by agent_id",
    );
    // Each as of another block: a page that is cached knows nothing of what is written behind its back.
    const openWith = async (bytes: number, block: number) => {
      const pubkey = `0x${"c7".repeat(bytes)}`;
      await stage.database.query({
        text: "update agents set pubkey = stored_hex(pubkey, $1) where agent_id = $2",
        values: [pubkey, agent_id],
      });
      return { pubkey, markup: await open(`/explorer/agents/${agent_id}?block=${block}`) };
    };
    const large = await openWith(50_000, stage.head);
    expect(large.markup).not.toContain("c7".repeat(300));
    expect(large.markup.length).toBeLessThan(60_000);
    const usual = await openWith(65, stage.head - 1);
    expect(usual.markup).toContain(`data-copy="${usual.pubkey}"`);
  });
});
