// `sextant get`, `list` and `preflight` against the real indexing API, and against one that wants to steer the terminal.
import {
  chmodSync,
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { operationsFor } from "../../src/cli/api-operations.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { openReadStage, type ReadStage } from "../api/api-stage.ts";
import { startLoopbackServer } from "../support/http/loopback-server.ts";
import { startTestApi } from "../support/http/test-api.ts";
import { runSextantInProcess, startSextantInProcess } from "../support/process/run-in-process.ts";
import { createTestKeys } from "../support/signing/test-keys.ts";
import { createTestFolder } from "../support/test-folder.ts";

// More than a function call takes as arguments.
const RECORDS_ABOVE_STACK = 130_000;

type RunOptions = { readonly columns?: number; readonly environment?: Readonly<Record<string, string>> };

let stage: ReadStage;
beforeAll(async () => {
  stage = await openReadStage();
});
afterAll(() => stage?.close());

function run(args: readonly string[], { columns, environment = {} }: RunOptions = {}) {
  const given = { SEXTANT_API_URL: stage.url, SEXTANT_DATA: "/nowhere", NO_COLOR: "1", ...environment };
  return runSextantInProcess(args, given, process.cwd(), columns ?? null);
}

function examplesOf(path: string) {
  const parameters = stage.client.document.paths[path]?.get?.parameters ?? [];
  return parameters as unknown as readonly {
    name: string;
    in: string;
    required: boolean;
    example: unknown;
    description: string;
  }[];
}

describe("every path of the API", () => {
  it.each([
    ...operationsFor("get").map(({ path }) => ["get", path] as const),
    ...operationsFor("list").map(({ path }) => ["list", path] as const),
  ])("reads by %s with the example of %s, and names all filters in its help", async (command, path) => {
    const parameters = examplesOf(path);
    const filled = path
      .slice(1)
      .replace(/\{(\w+)\}/g, (_, name) => String(parameters.find((each) => each.name === name)?.example));
    const required = parameters
      .filter((each) => each.in === "query" && each.required)
      .flatMap(({ name, example }) => [`--${name.replaceAll("_", "-")}`, String(example)]);
    const { code, out, err } = await run([command, filled, ...required, "--json"]);
    // The ids of the examples are those of another run.
    expect([0, 2], err).toContain(code);
    if (code === 0) for (const line of out.split("\n").filter((each) => each !== "")) JSON.parse(line);
    const help = await run([command, filled, "--help"]);
    expect(help.code).toBe(0);
    for (const { name, in: place, description } of parameters) {
      if (place !== "query" || ["limit", "cursor", "offset", "min_block"].includes(name)) continue;
      expect(help.out).toContain(`--${name.replaceAll("_", "-")} `);
      const text = help.out.replace(/\s+/g, " ").toLowerCase();
      if (name !== "block" && name !== "at")
        expect(text).toContain(description.replace(/\.$/, "").toLowerCase());
    }
  });

  it("lists the paths of the API in the help", async () => {
    const [get, list] = [await run(["get", "--help"]), await run(["list", "--help"])];
    expect(get.out).toContain("  agents/AGENT_ID ");
    expect(get.out).toContain("  tx/HASH/explain ");
    expect(list.out).toContain("  accounts/ADDRESS/policies ");
    const text = list.out.replace(/\s+/g, " ");
    for (const { summary } of operationsFor("list")) expect(text).toContain(summary);
  });
});

describe("help", () => {
  const clients = COMMANDS.filter(({ client }) => client !== undefined);

  it.each(clients.map(({ name }) => name))("the help of %s has examples, and exit codes", async (name) => {
    const { out } = await run([name, "--help"]);
    expect(out).toContain(`\nExamples\n  node bin/sextant.mjs ${name}`);
    expect(out).toMatch(/\nExit codes\n {2}0 +done\n/);
  });

  const examples = clients
    .filter(({ name }) => ["get", "list", "preflight"].includes(name))
    .flatMap(({ client }) => client?.examples ?? []);

  it.each(examples)("runs the example of the help: %s", async (example) => {
    const { code, err } = await run(example.replace(/ [|>].*$/, "").split(" "));
    // Its blocks are those of a local run: tests/examples has one.
    expect([0, 1, 2, 65], err).toContain(code);
  });
});

describe("get", () => {
  it("shows a record by field, and as the JSON of the API", async () => {
    const body = await stage.body("/agents/1");
    expect(JSON.parse((await run(["get", "agents/1", "--json"])).out)).toEqual(body);
    const { code, out, err } = await run(["get", "/agents/1"]);
    const lines = Object.entries(body).map(([name, value]) =>
      `${name.padEnd(17)}  ${String(value)}`.trimEnd(),
    );
    expect([code, err, out]).toEqual([0, "", `${lines.join("\n")}\n`]);
  });

  it("shows nested fields, in the past and with more", async () => {
    const [filled] = await stage.pages("/intents?status=filled", "intents", 1);
    const { intent_id: id, block_number: block } = filled as Record<string, string>;
    const now = await run(["get", `intents/${id}`]);
    expect(now.out).toMatch(/\nstatus +FILLED\n/);
    expect(now.out).toMatch(/\nfill\n {2}solver +0x[0-9a-f]{40}\n/);
    const then = await run(["get", `intents/${id}`, "--block", String(block), "--include", "provenance"]);
    expect(then.out).toMatch(/\nstatus +OPEN\n/);
    expect(then.out).toMatch(/\ntx_hash +0x[0-9a-f]{64}\n/);
  });

  it("prints a document as it was published", async () => {
    const text = '{"name" : "a \\u0007 \u009b31m ünïcode 🧭",\r\n "services": []}';
    const { body } = await stage.client.call("/catalogs", { method: "POST", body: { catalog_json: text } });
    const path = `catalogs/${(body as { catalog_hash: string }).catalog_hash}`;
    expect((await run(["get", path])).out).toBe(text);
    const shown = (await run(["get", path], { columns: 80 })).out;
    expect(JSON.parse(shown)).toEqual(JSON.parse(text));
    expect(shown.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  });

  it.each([
    ["get", "agent/1"],
    ["get", "agent", "1"],
    ["list", "intent"],
  ])("takes the singular: %s %s %s", async (...line) => {
    const { code, out } = await run(line.filter((word) => word !== undefined));
    expect([code, out]).toEqual([
      0,
      (await run([line[0] ?? "", line[0] === "get" ? "agents/1" : "intents"])).out,
    ]);
  });

  it.each<[string, readonly string[], number, RegExp]>([
    ["no record", ["get", "agents/99999999"], 2, /^sextant: .+\n$/],
    ["an unknown path", ["get", "xyzzy/1"], 64, /The API has no xyzzy\/1; run `node bin/],
    [
      "a typo",
      ["get", "agnets/1"],
      64,
      /The API has no agnets\/1; did you mean `node bin\/sextant\.mjs get agents\/1`\? Or run `node bin/,
    ],
    [
      "a part of a path",
      ["list", "bid"],
      64,
      /did you mean intents\/ID\/bids, such as `node bin\/sextant\.mjs list intents\/\d+\/bids`\?/,
    ],
    ["a singular in y", ["list", "policy"], 64, /did you mean accounts\/ADDRESS\/policies, such as `/],
    ["a list by its singular", ["get", "catalog"], 64, /did you mean catalogs\/HASH, such as `/],
    ["nothing", ["get"], 64, /Name what to get; run/],
    ["a list", ["get", "intents"], 64, /intents is a list; run `node bin\/sextant\.mjs list intents`/],
    [
      "no list",
      ["list", "agents/1"],
      64,
      /agents\/1 is not a list; run `node bin\/sextant\.mjs get agents\/1`/,
    ],
    ["a query", ["list", "intents?status=open"], 64, /Pass filters as options, such as --status open/],
    [
      "an option of another path",
      ["get", "agents/1", "--owner", "0x"],
      64,
      /has no option --owner; it has --include/,
    ],
    [
      "a filter of another list",
      ["list", "intents", "--merchant-id", "1"],
      64,
      /intents has no option --merchant-id; it has/,
    ],
    ["a value", ["list", "intents", "--status", "lost"], 64, /--status must be one of open, filled, /],
    [
      "a missing filter",
      ["list", "documents"],
      64,
      /--hash is required: .+ For example: `node bin\/sextant\.mjs list documents --hash 0x[0-9a-f]{64}`$/m,
    ],
    ["no block", ["get", "agents/1", "--block", "-1"], 64, /--block/],
    ["no number", ["list", "intents", "--limit", "0"], 64, /--limit must be a whole number of at least 1/],
    ["text that is not an id", ["get", "agents/one"], 65, /^sextant: /],
    ["a path that climbs", ["get", "agents/..%2f..%2fready"], 65, /^sextant: /],
  ])("rejects %s in one sentence", async (_name, args, code, sentence) => {
    const result = await run(args);
    expect(result.err).toMatch(sentence);
    expect([result.code, result.out, result.err.trimEnd().split("\n").length]).toEqual([code, "", 1]);
  });

  it("says which service cannot be reached, or is not named", async () => {
    const gone = await run(["get", "agents/1"], { environment: { SEXTANT_API_URL: "http://127.0.0.1:9" } });
    expect(gone).toMatchObject({ code: 69, err: "sextant: No complete response from http://127.0.0.1:9.\n" });
    const unnamed = await runSextantInProcess(["get", "agents/1"], { SEXTANT_DATA: "/nowhere" });
    expect([unnamed.code, unnamed.err]).toEqual([78, expect.stringMatching(/set SEXTANT_API_URL/)]);
  });
});

describe("list", () => {
  const read = async (...args: string[]) =>
    (await run(["list", "intents", "--json", ...args])).out
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));

  it("shows what the API has, one record per line", async () => {
    const all = await stage.pages("/intents", "intents", 100);
    expect(all.length).toBeGreaterThan(20);
    expect(await read()).toEqual(all.slice(0, 20));
    expect(await read("--limit", "7")).toEqual(all.slice(0, 7));
    expect(await read("--all")).toEqual(all);
    const open = await stage.pages("/intents?status=open", "intents", 100);
    expect(await read("--status", "open", "--all")).toEqual(open);
  });

  it("follows cursors to the limit and to the end, and shows each page as it comes", async () => {
    const pages: (() => void)[] = [];
    const asked: string[] = [];
    const server = await startLoopbackServer(async ({ url = "" }, response) => {
      const query = new URL(url, "http://127.0.0.1").searchParams;
      const start = Number(query.get("cursor") ?? 0);
      asked.push(`${query.get("limit")} from ${start}`);
      if (start > 0) await new Promise<void>((resolve) => pages.push(resolve));
      const intents = Array.from({ length: 100 }, (_, index) => ({ intent_id: String(start + index) }));
      const next = start < 200 ? { next_cursor: String(start + 100) } : {};
      response.end(JSON.stringify({ intents, pagination: { limit: 100, offset: 0, count: 100, ...next } }));
    });
    onTestFinished(() => server.stop());
    const list = (...args: string[]) =>
      startSextantInProcess(["list", "intents", "--json", ...args], { SEXTANT_API_URL: server.url });
    const limited = list("--limit", "150");
    // The second page is not sent before the first one is shown.
    await expect.poll(() => limited.written.out, { timeout: 20_000 }).toContain('"intent_id":"99"');
    await expect.poll(() => pages.length, { timeout: 20_000 }).toBe(1);
    pages.shift()?.();
    const { code, out } = await limited.ended;
    expect([code, out.split("\n").length - 1, asked]).toEqual([0, 150, ["100 from 0", "100 from 100"]]);
    const whole = list("--all");
    for (const _ of ["second", "third"]) {
      await expect.poll(() => pages.length, { timeout: 20_000 }).toBe(1);
      pages.shift()?.();
    }
    expect((await whole.ended).out.split("\n").length - 1).toBe(300);
  });

  it("shows all columns and whole values in a pipe, and with --wide", async () => {
    const [first] = await stage.pages("/intents", "intents", 1);
    const { intent_id, owner, status } = first as Record<string, string>;
    const wide = await run(["list", "intents", "--limit", "3", "--wide"], { columns: 80 });
    const piped = await run(["list", "intents", "--limit", "3"]);
    expect(piped.out).toBe(wide.out);
    expect(piped.err).toBe("");
    expect(piped.out).toMatch(/^intent_id +status +owner +intent_type +input_token +output_token .* nonce /);
    expect(piped.out).toMatch(new RegExp(`\n${intent_id} +${status} +${owner} `));
  });

  it("lists the agents of all owners, or those of one", async () => {
    const list = async (...args: string[]) => (await run(["list", ...args, "--json"])).out;
    expect(await list("agents")).toBe(await list("directory/agents"));
    const [{ owner } = {}] = await stage.pages("/directory/agents", "agents", 1);
    const own = await list("agents", "--owner", String(owner));
    expect(own).toContain(`"owner":"${owner}"`);
    expect(own.length).toBeLessThan((await list("agents")).length);
  });

  it("shows records of several kinds in one table", async () => {
    const { account } = await stage.first("select account from policies where valid_to is null limit 1");
    const { code, out } = await run(["list", `accounts/${account}/policies`]);
    expect(code).toBe(0);
    expect(out).toMatch(/^policy_type .*\n/);
    const policies = await stage.pages(`/accounts/${account}/policies`, "policies", 100);
    expect(out.trimEnd().split("\n")).toHaveLength(1 + Math.min(20, policies.length));
    expect(out).toMatch(new RegExp(`\n${policies[0]?.policy_type} `));
  });
});

describe("amounts", () => {
  const coin = { address: `0x${"0".repeat(40)}`, symbol: "ETH", decimals: 18 };

  it("shows amounts with the symbol and decimals that the API names, except as JSON, for one request more", async () => {
    expect(await stage.body("/deployments")).toMatchObject({ tokens: expect.arrayContaining([coin]) });
    const receipt = { receipt_id: "1", token: coin.address, amount: "2500000000000000000" };
    const bids = [{ bid_id: "7-1", amount_in: "1500000000000000000", fee: "1000" }];
    const asked: string[] = [];
    const server = await startLoopbackServer(({ url = "" }, response) => {
      asked.push(url.replace(/\?.*/, ""));
      const list = { receipts: [receipt], pagination: { limit: 1, offset: 0, count: 1 } };
      const bodies: Record<string, unknown> = {
        ...{ "/deployments": { deployments: [], tokens: [coin] }, "/receipts/1": receipt },
        ...{ "/intents/7/bids?limit=20": { bids, pagination: list.pagination } },
        ...{ "/intents/7": { intent_id: "7", input_token: coin.address, output_token: coin.address } },
      };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(bodies[url] ?? list));
    });
    onTestFinished(() => server.stop());
    const environment = { SEXTANT_API_URL: server.url };
    expect((await run(["list", "receipts"], { environment })).out).toContain("  2.5 ETH");
    expect((await run(["get", "receipts/1"], { environment })).out).toMatch(/^amount +2\.5 ETH$/m);
    expect(asked).toEqual(["/receipts", "/deployments", "/receipts/1", "/deployments"]);
    expect(JSON.parse((await run(["get", "receipts/1", "--json"], { environment })).out)).toEqual(receipt);
    expect(asked).toHaveLength(5);
    expect((await run(["list", "intents/7/bids"], { environment })).out).toMatch(/ 1\.5 ETH .* 1,000 units/);
    expect(asked.slice(5).sort()).toEqual(["/deployments", "/intents/7", "/intents/7/bids"]);
  });
});

describe("preflight", () => {
  it("says whether the policies allow a transaction, and why not", async () => {
    const { account } = await stage.first("select account from policies where valid_to is null limit 1");
    const target = `0x${"42".repeat(20)}`;
    const { body } = await stage.client.call("/preflight", { method: "POST", body: { account, target } });
    const json = await run(["preflight", "--account", String(account), "--target", target, "--json"]);
    expect(JSON.parse(json.out)).toEqual(body);
    const { allowed, action } = body as { allowed: boolean; action: string };
    const shown = await run(["preflight", "--account", String(account), "--target", target]);
    expect(shown.out).toMatch(new RegExp(`^${allowed ? "Allowed" : "Not allowed"}: `));
    expect(shown.out).toContain(action);
    expect([json.code, shown.code]).toEqual(allowed ? [0, 0] : [1, 1]);
  });

  it("needs what the API needs", async () => {
    expect(await run(["preflight", "--account", `0x${"42".repeat(20)}`])).toMatchObject({
      code: 64,
      err: "sextant: --target is required: Target of the transaction.\n",
    });
  });
});

describe("a hostile API", () => {
  const evil = "\u001b]0;pwned\u0007\u009b31m\u202e\r\nSpoofed\u2028\u{e0041}";
  const UNSAFE = /[\p{C}\p{Zl}\p{Zp}]/u;

  async function serve(body: unknown, status = 200): Promise<string> {
    const server = await startLoopbackServer((_, response) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
    onTestFinished(() => server.stop());
    return server.url;
  }

  it("prints no control characters of an API's names, values or errors", async () => {
    const record = { intent_id: evil, status: evil, [evil]: { deep: [evil, { [evil]: evil }] }, owner: evil };
    const list = await serve({ intents: [record], pagination: { limit: 1, offset: 0, count: 1 } });
    const one = await serve(record);
    const failing = await serve({ error: evil }, 404);
    const runs = [
      await run(["list", "intents"], { columns: 80, environment: { SEXTANT_API_URL: list } }),
      await run(["list", "intents", "--json"], { environment: { SEXTANT_API_URL: list } }),
      await run(["get", "intents/1"], { columns: 80, environment: { SEXTANT_API_URL: one } }),
      await run(["get", "intents/1", "--json"], { environment: { SEXTANT_API_URL: one } }),
      await run(["get", "intents/1"], { environment: { SEXTANT_API_URL: failing } }),
    ];
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0, 2]);
    for (const { out, err } of runs) {
      expect((out + err).replaceAll("\n", "")).not.toMatch(UNSAFE);
      expect(out + err).not.toMatch(/^Spoofed/m);
    }
    expect(JSON.parse(runs[3]?.out ?? "")).toEqual(record);
  });

  it("prints no control characters that a stack trace quotes", async () => {
    const server = await startLoopbackServer((_, response) => response.end(`\u001b]0;pwned\u0007${evil}`));
    onTestFinished(() => server.stop());
    const environment = { SEXTANT_API_URL: server.url };
    const { code, err } = await run(["get", "intents/1", "--debug"], { environment });
    expect(code).toBe(70);
    expect(err).toContain("caused by: SyntaxError");
    expect(err.replaceAll("\n", "")).not.toMatch(UNSAFE);
  });

  it("does not exhaust the stack by the depth of a response", async () => {
    const server = await startLoopbackServer((_, response) => {
      response.end(`${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`);
    });
    onTestFinished(() => server.stop());
    const environment = { SEXTANT_API_URL: server.url };
    const shown = await run(["get", "intents/1"], { environment });
    expect([shown.code, shown.out.split("\n").length < 20]).toEqual([0, true]);
    expect(await run(["get", "intents/1", "--json"], { environment })).toEqual({
      ...{ code: 70, out: "" },
      err: "sextant: The response is nested too deeply to be printed.\n",
    });
  });

  it("does not exhaust the stack by the number of records", async () => {
    const intents = Array.from({ length: RECORDS_ABOVE_STACK }, (_, index) => ({ intent_id: index }));
    expect(() => Math.max(...intents.map(() => 0))).toThrow(RangeError);
    const url = await serve({ intents, pagination: { limit: 1, offset: 0, count: 1 } });
    const { code, out } = await run(["list", "intents", "--all"], { environment: { SEXTANT_API_URL: url } });
    expect([code, out.split("\n").length]).toEqual([0, RECORDS_ABOVE_STACK + 2]);
  });
});

it("a file of get --save is a signed read that `sextant verify` finds signed, and not of another record", async () => {
  const signing = { keys: createTestKeys(), signsAll: false };
  const api = await startTestApi(stage.database, { signing });
  onTestFinished(() => api.close());
  const folder = await createTestFolder();
  const file = join(folder, "agent.json");
  const { code, out, err } = await run(["get", "agents/1", "--json", "--save", file], {
    environment: { SEXTANT_API_URL: api.url },
  });
  expect(code, err).toBe(0);
  const { request, response, keys } = JSON.parse(readFileSync(file, "utf8"));
  expect([request.url, JSON.parse(response.body)]).toEqual([`${api.url}/agents/1?signed=1`, JSON.parse(out)]);
  const listed = join(folder, "keys.json");
  writeFileSync(listed, JSON.stringify(keys));
  const verify = async () =>
    runSextantInProcess(["verify", file, "--key", listed, "--json"], {}, process.cwd(), null);
  const verified = await verify();
  expect(JSON.parse(verified.out).rows[0]).toMatchObject({ path: "signature", status: "signed" });
  expect(verified.code).toBe(0);
  writeFileSync(file, readFileSync(file, "utf8").replace("/agents/1?", "/agents/2?"));
  expect((await verify()).code).toBe(1);
});

describe("a file of get --save", () => {
  const failed = async (file: string, respond: (response: ServerResponse) => void) => {
    const { url, stop } = await startLoopbackServer((_, response) => respond(response));
    onTestFinished(stop);
    const { code } = await run(["get", "agents/1", "--save", file], {
      environment: { SEXTANT_API_URL: url },
    });
    expect(code).not.toBe(0);
  };

  it.each([
    [
      "is rejected",
      (response: ServerResponse) => void response.writeHead(404).end('{"error":{"code":"NOT_FOUND"}}'),
    ],
    ["is not JSON", (response: ServerResponse) => void response.writeHead(200).end("<html>")],
  ])("is not made, and the one before stays, if the read %s", async (_, respond) => {
    const folder = await createTestFolder();
    const [absent, earlier] = [join(folder, "absent.json"), join(folder, "earlier.json")];
    writeFileSync(earlier, "earlier");
    await failed(absent, respond);
    await failed(earlier, respond);
    expect(readFileSync(earlier, "utf8")).toBe("earlier");
    expect(readdirSync(folder)).toEqual(["earlier.json"]);
  });

  it("replaces the one before in one step, where a link leads, and keeps who may read it", async () => {
    const folder = await createTestFolder();
    const [file, link] = [join(folder, "agent.json"), join(folder, "link.json")];
    writeFileSync(file, "earlier");
    // Neither what a new file gets nor what a usual mask leaves of it.
    chmodSync(file, 0o620);
    symlinkSync(file, link);
    const reader = openSync(file, "r");
    onTestFinished(() => closeSync(reader));
    const { code, err } = await run(["get", "agents/1", "--save", link]);
    expect(code, err).toBe(0);
    // The file that was open before is another one: no reader gets half of the new one.
    expect(readFileSync(reader, "utf8")).toBe("earlier");
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ format: "sextant-answer" });
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o620);
    expect(readdirSync(folder).sort()).toEqual(["agent.json", "link.json"]);
  });

  it("is written to a device, too", async () => {
    const { code, err } = await run(["get", "agents/1", "--save", "/dev/null"]);
    expect(code, err).toBe(0);
    expect(statSync("/dev/null").isFile()).toBe(false);
  });

  it("cannot be a folder", async () => {
    const folder = await createTestFolder();
    const { code, err } = await run(["get", "agents/1", "--save", folder]);
    expect([code, err]).toEqual([64, expect.stringContaining("cannot be written")]);
  });
});
