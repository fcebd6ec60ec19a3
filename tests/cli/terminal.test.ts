// `sextant list`, `get` and their errors at a terminal: what fits, what a person reads first, and what is left out.
import { encodeFunctionData, erc20Abi } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operationsFor } from "../../src/cli/api-operations.ts";
import { openReadStage, type ReadStage } from "../api/api-stage.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { runSextantInProcess } from "../support/process/run-in-process.ts";

let stage: ReadStage;
let api: TestApi;
beforeAll(async () => {
  stage = await openReadStage();
  const tokens = await stage.rows("select distinct input_token as token from intents order by 1");
  api = await startTestApi(stage.database, {
    tokens: Object.fromEntries(
      tokens.map(({ token }, index) => [
        String(token),
        index === 0 ? { symbol: "USDC", decimals: 6 } : { symbol: "WETH", decimals: 18 },
      ]),
    ),
  });
});
afterAll(async () => {
  await api?.close();
  await stage?.close();
});

function run(line: string, columns: number | null, url = api.url) {
  const environment = { SEXTANT_API_URL: url, SEXTANT_DATA: "/nowhere", TERM: "dumb" };
  return runSextantInProcess(line.split(" "), environment, process.cwd(), columns);
}

const live = (table: string, column: string) =>
  `select ${column} as value from ${table} where valid_to is null order by 1 limit 1`;

/** A record whose list has rows, for lists below a record. */
const OWNERS: Readonly<Record<string, string>> = {
  "/intents/{id}/bids": live("bids", "intent_id"),
  "/accounts/{address}/policies": live("policies", "account"),
  "/accounts/{address}/windows":
    "select account as value from policies where valid_to is null and policy_type = 'SPEND_LIMIT' limit 1",
  "/accounts/{address}/session-keys": live("session_keys", "account"),
};

async function pathOf(path: string): Promise<string> {
  const query = OWNERS[path];
  const filled =
    query === undefined ? path : path.replace(/\{\w+\}/, String((await stage.first(query)).value));
  return filled.slice(1);
}

// Events are sentences: tests/cli/watch.test.ts.
const withoutRows = new Set(["/documents", "/attestations/schemas", "/events"]);
const lists = operationsFor("list").filter(({ path }) => !withoutRows.has(path));

/** The cells of a table by title: the head says where each column begins. */
function readTable(out: string) {
  const [head = "", ...rows] = out.trimEnd().split("\n");
  const starts = [...head.matchAll(/\S+/g)].map(({ index, 0: title }) => ({ index, title }));
  return starts.map(({ index, title }, at) => ({
    title,
    cells: rows.map((row) => row.slice(index, starts[at + 1]?.index).trim()),
  }));
}

describe("a list", () => {
  it.each(lists.map(({ path, columns }) => [path, columns.length] as const))(
    "fits %s into 80 and 60 columns without blank columns, and names all that it leaves out",
    async (path, count) => {
      const line = `list ${await pathOf(path)}`;
      for (const width of [80, 60]) {
        const { code, out, err } = await run(line, width);
        expect([code, err]).toEqual([0, expect.not.stringContaining("No record")]);
        for (const each of (out + err).split("\n")) expect(each.length).toBeLessThanOrEqual(width);
        const table = readTable(out);
        for (const { title, cells } of table) {
          const isBlank = cells.every((cell) => cell === "" || cell === "–");
          expect(isBlank, `${title} is blank`).toBe(false);
        }
        const note = err.replace(/\s+/g, " ");
        const named = [...note.matchAll(/(?:hidden|blank): ([^;]+)/g)].flatMap(([, names]) =>
          names?.split(", "),
        );
        expect(table.length + named.length, note).toBe(count);
        const isShort = /0x[0-9a-f]{4}…/.test(out);
        expect(note.includes("shortened")).toBe(isShort);
        expect(out).not.toMatch(isShort ? /0x[0-9a-f]{16}/ : /0x[0-9a-f]*…/);
      }
    },
  );

  it("shows what a person reads first: state, amounts with symbol, times, then addresses", async () => {
    const intents = await run("list intents", 80);
    expect(intents.out).toMatch(/^id +status +amount_in_max +amount_out_min +deadline/);
    expect(intents.out).toMatch(
      /^\d+ +[A-Z]+ +[\d,.…]+ (USDC|WETH) +[\d,.…]+ (USDC|WETH) +\d{4}-\d\d-\d\d \d\d:\d\d/m,
    );
    expect((await run("list intents", 60)).out).toMatch(/^id +status +amount_in_max +amount_out_min/);
    const receipts = (await run("list receipts", 80)).out;
    expect(receipts).toMatch(/^id +amount +merchant +service +payment_rail +agent/);
    expect(receipts).toMatch(/ (Transfer|Swap|Facilitator|x402) +0x[0-9a-f]{4}…[0-9a-f]{4}/);
    const windows = (await run(`list ${await pathOf("/accounts/{address}/windows")}`, 80)).out;
    expect(windows).toMatch(/^policy_type +(allowed +)?max_per_day +spent +remaining/);
    expect((await run("list solvers", 80)).out).toMatch(/^id +active +bond .*\n(.*\n)*.*[\d…] ETH /);
  });

  it("calls a column blank only if it has no values", async () => {
    const rows = (await run("list solvers --json", null)).out.trim().split("\n");
    expect(rows.map((row) => JSON.parse(row).avg_surplus_out)).toContainEqual(expect.any(String));
    const note = (await run("list solvers", 300)).err.replace(/\s+/g, " ");
    expect(note).toContain("hidden: avg_surplus_out");
    expect(note).not.toMatch(/blank: [^;]*avg_surplus_out/);
  });

  it("keeps the token next to an amount whose decimals are unknown", async () => {
    const { out } = await run("list receipts", 80, stage.url);
    expect(out).toMatch(/^id +amount +token /);
    expect(out).toMatch(/^\d+ +\d+ +0x[0-9a-f]{4}…[0-9a-f]{4} /m);
  });

  it("shows the name that the metadata has, and whole metadata in a pipe", async () => {
    const shown = (await run("list agents --limit 100", 80)).out;
    expect(shown).toMatch(/^id .* name /);
    expect(shown).toMatch(/ agent-\d+ “Ünïcode” 🧭/);
    expect(shown).not.toContain("data:appl");
    const piped = (await run("list agents --limit 100", null)).out;
    expect(piped).toMatch(/^agent_id .* metadata_uri .*\n(.*\n)*.* data:application\/json,\{"name":"agent-/);
  });

  it("leaves out what the filters say already", async () => {
    const { owner } = await stage.first("select owner from intents limit 1");
    const { out, err } = await run(`list intents --owner ${owner}`, 80);
    expect(out).not.toContain(" owner");
    expect(err.replace(/\s+/g, " ")).toMatch(/hidden: .*\bowner\b/);
  });
});

it("shows the amounts of a submitted intent in its event", async () => {
  const line = "list events --type IntentSubmitted --limit 3";
  const { out } = await run(line, 80);
  expect(
    out
      .replace(/\s+/g, " ")
      .match(
        /Intent #\d+ submitted by 0x\w{4}…\w{4} to swap up to [\d,.…]+ (USDC|WETH) for at least [\d,.…]+ (USDC|WETH)/g,
      ),
  ).toHaveLength(3);
  expect((await run(line, null)).out).toMatch(
    / to swap up to [\d,.…]+ (USDC|WETH) for at least [\d,.…]+ (USDC|WETH)\n/,
  );
});

describe("a record", () => {
  it("names rails, fees in percent and tokens at a terminal, and keeps the values of the API in a pipe", async () => {
    const { receipt_id: id } = await stage.first("select receipt_id from receipts order by 1 limit 1");
    const shown = (await run(`get receipts ${id}`, 80)).out;
    expect(shown).toMatch(/^payment_rail +(Transfer|Swap|Facilitator|x402)$/m);
    expect(shown).toMatch(/^protocol_fee_bps +\d[\d.]* %$/m);
    expect(shown).toMatch(/^token +(USDC|WETH|ETH) 0x[0-9a-f]{40}$/m);
    for (const line of shown.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    const piped = (await run(`get receipts/${id}`, null)).out;
    expect(piped).toMatch(/^payment_rail +\d$/m);
    expect(piped).toMatch(/^protocol_fee_bps +\d+$/m);
    expect(piped).toMatch(/^token +0x[0-9a-f]{40}$/m);
  });

  it("wraps the verdict about a transaction", async () => {
    const [account, target] = [await stage.first(live("policies", "account")), `0x${"42".repeat(20)}`];
    const { out } = await run(`preflight --account ${account.value} --target ${target}`, 60);
    expect(out).toMatch(/^(Allowed|Not allowed): .*\n {2}0x4242/);
    for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(60);
  });

  it("names amounts of a verdict by their token at a terminal", async () => {
    const limit = await stage.first(
      `select account, token from policies where valid_to is null and policy_type = 'SPEND_LIMIT' and max_per_day > 0 and token in (select input_token from intents) order by max_per_day limit 1`,
    );
    const transfer = encodeFunctionData({
      abi: erc20Abi,
      functionName: "transfer",
      args: [`0x${"42".repeat(20)}`, 10n ** 60n],
    });
    const line = `preflight --account ${limit.account} --target ${limit.token} --data ${transfer}`;
    const { out } = await run(line, 80);
    expect(out.replace(/\s+/g, " ")).toMatch(
      /Spending [\d,…]+ (USDC|WETH) exceeds the daily limit of [\d,.…]+ (USDC|WETH): [\d,.…]+ (USDC|WETH) is spent/,
    );
    expect(out).toMatch(/^ {2}(USDC|WETH) .* [\d,.…]+ (USDC|WETH) +false$/m);
    expect((await run(line, null)).out).toContain(`Spending ${10n ** 60n} of ${limit.token}`);
  });

  it("shows volumes with the symbol of their token", async () => {
    const { out } = await run("get analytics/commerce", 80);
    expect(out).toMatch(/^ {2}(USDC|WETH) .* [\d,.…]+ (USDC|WETH) /m);
    // A sum over several tokens says nothing; the volumes by token are there.
    expect(out).not.toMatch(/^ {2}settled_volume| units$/m);
  });

  it("groups the totals, and counts zeros and idle days instead of listing them", async () => {
    for (const width of [80, 60]) {
      const { out } = await run("get totals", width);
      expect(out).toMatch(/^Agents +\d+ agents?, \d+ accounts?,/);
      expect(out).toMatch(/^Intents +\d+ intents?, /m);
      expect(out).toMatch(/^Commerce +\d+ merchants?, /m);
      expect(out).toMatch(/^\d+ of 30 days have nothing\.$/m);
      expect(out).not.toMatch(/(?<!\d)0 [a-z]/);
      for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(width);
    }
    const { totals, series } = JSON.parse((await run("get totals --json", 80)).out);
    expect([totals.agents, series.length]).toEqual([expect.stringMatching(/^\d+$/), 30]);
  });

  it("says which block was read with --at and --block, and nothing next to JSON or in a pipe", async () => {
    const { block_number: head, block_timestamp: seconds } =
      await stage.body<Record<string, string>>("/head");
    const time = new Date(Number(seconds) * 1_000).toISOString();
    const note = `As of block ${head}, ${time.slice(0, 19).replace("T", " ")} UTC\n`;
    expect((await run(`get intents 1 --at ${time}`, 80)).err).toBe(note);
    expect((await run(`get intents/1 --block ${head}`, 80)).err).toBe(note);
    expect((await run(`list intents --at ${time}`, 80)).err).toContain(note);
    expect((await run("get intents/1", 80)).err).toBe("");
    for (const line of [`get intents/1 --at ${time}`, `list intents --limit 1 --at ${time}`]) {
      const [json, piped] = [await run(`${line} --json`, 80), await run(line, null)];
      expect([json.err.includes("As of"), piped.err]).toEqual([false, ""]);
    }
  });
});

describe("an error", () => {
  it("is wrapped below its first line, and keeps a command that can be pasted in one piece", async () => {
    const { err } = await run("list documents", 60);
    const [first, second, ...others] = err.trimEnd().split("\n");
    expect(first).toBe("sextant: --hash is required: Hashes of documents, at most");
    expect(second).toBe("  33, separated by commas. For example:");
    expect(others).toEqual([
      expect.stringMatching(/^ {2}`node bin\/sextant\.mjs list documents --hash 0x\w{64}`$/),
    ]);
    expect((await run("list documents", null)).err.trimEnd().split("\n")).toHaveLength(1);
  });
});
