// Several deployments in one installation: indexed and served at once, apart from each other, and dropped one by one.
// Main covers a part: installation-commands.test.ts, src/cli/installation.test.ts, src/http/mounts.test.ts.

import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSextant } from "../../packages/client/sextant.ts";
import { deploymentsCommand } from "../../src/cli/commands/deployments.ts";
import { assertDefined } from "../../src/lib/assert-defined.ts";
import {
  INSTALLATION_MS_MAX,
  type InstallationStage,
  openInstallationStage,
  type RunningService,
  waitFor,
} from "./installation-stage.ts";

type Listed = {
  readonly name: string;
  readonly path: string;
  readonly is_default: boolean;
  readonly chain_id: string;
  readonly fingerprint: string | null;
  readonly indexed: { readonly block_number: string; readonly block_hash: string } | null;
  readonly lag: { readonly blocks: string | null };
  readonly ready: boolean;
};

const NAMES = ["local", "second", "third-one"] as const;
const SCHEMAS = ["sextant", "sextant_second", "sextant_third_one"];
const ONLY = { deployment: ["local", "second"] };

let stage: InstallationStage;
let first: RunningService;
let api: RunningService;

beforeAll(async () => {
  stage = await openInstallationStage();
  first = await stage.start("indexer");
  api = await stage.start("api");
  await waitFor(isIndexed);
}, INSTALLATION_MS_MAX);

// Without a stage the error of the hook above is the one to report.
afterAll(() => stage?.close());

const get = async (url: string): Promise<{ readonly status: number; readonly text: string }> => {
  const response = await fetch(url);
  return { status: response.status, text: await response.text() };
};

/** A service whose requests time out on a busy machine responds with an error, which has no list. */
const listIfServed = async (): Promise<readonly Listed[] | null> => {
  const { status, text } = await get(`${api.url}/deployments`);
  return status === 200 ? (JSON.parse(text) as { deployments: readonly Listed[] }).deployments : null;
};

const list = async (): Promise<readonly Listed[]> => assertDefined(await listIfServed(), "the deployments");

async function isIndexed(): Promise<boolean> {
  const listed = (await listIfServed()) ?? [];
  for (const name of NAMES) {
    const head = await stage.stages.get(name)?.head();
    const found = listed.find((each) => each.name === name);
    if (found?.indexed?.block_hash !== head?.hash || !found?.ready) return false;
  }
  return true;
}

async function standsBy({ url }: RunningService, name: string): Promise<boolean> {
  return (await get(`${url}/d/${name}/ready`)).text.includes("stands by");
}

describe("several deployments in one process and one database", () => {
  it("all deployments are indexed at once, also alongside one whose node is down", async () => {
    const listed = await list();
    expect(listed.map(({ name, path, is_default }) => [name, path, is_default])).toEqual([
      ["local", "/d/local", true],
      ["second", "/d/second", false],
      ["third-one", "/d/third-one", false],
      ["broken", "/d/broken", false],
    ]);
    expect(listed.map(({ chain_id }) => chain_id)).toEqual(["31337", "31338", "31339", "31340"]);
    expect(listed.map(({ ready }) => ready)).toEqual([true, true, true, false]);
    expect(new Set(listed.map(({ fingerprint }) => fingerprint)).size).toBe(4);
    expect(listed.at(-1)).toMatchObject({ fingerprint: null, indexed: null, lag: { blocks: null } });
  });

  it("each deployment has its readiness and metrics", async () => {
    expect((await get(`${first.url}/d/second/ready`)).status).toBe(200);
    const broken = await get(`${first.url}/d/broken/ready`);
    expect(broken.status).toBe(503);
    const all = await get(`${first.url}/ready`);
    expect(all.status).toBe(503);
    expect(all.text).toContain("broken: ");
    const { text } = await get(`${first.url}/metrics`);
    for (const name of NAMES) {
      expect(text).toMatch(new RegExp(`sextant_indexer_indexed_block\\{deployment="${name}"\\} [1-9]`));
    }
    // The default one decides for the process that serves.
    expect((await get(`${api.url}/ready`)).status).toBe(200);
    expect((await get(`${api.url}/d/broken/ready`)).status).toBe(503);
    expect((await get(`${api.url}/metrics`)).text).toMatch(
      /sextant_http_requests_total\{.*deployment="local"/,
    );
  });

  it("each deployment responds like an installation of its own", async () => {
    const paths = [
      "/intents",
      "/merchants",
      "/agents?limit=3",
      "/totals",
      "/head",
      "/events?limit=5",
      "/integrity",
    ];
    for (const [name, schema] of [
      ["second", "sextant_second"],
      ["third-one", "sextant_third_one"],
    ] as const) {
      const { DEPLOYMENTS: _others, ...rest } = stage.environment;
      const single = await stage.start(
        "api",
        {},
        { ...rest, NETWORK: stage.fileOf(name), DATABASE_SCHEMA: schema },
      );
      for (const path of paths) {
        const [own, mounted] = [await get(single.url + path), await get(`${api.url}/d/${name}${path}`)];
        // Times of reports differ by a second.
        const plain = ({ status, text }: typeof own) => [
          status,
          text.replace(/"(seen|reported)_at":"[^"]*"/g, ""),
        ];
        expect([path, plain(mounted)]).toEqual([path, plain(own)]);
      }
      await single.stop();
    }
    expect((await get(`${api.url}/integrity`)).text).toContain('"chain_id":"31337"');
    expect((await get(`${api.url}/d/second/integrity`)).text).toContain('"chain_id":"31338"');
    expect((await get(`${api.url}/d/local/head`)).text).toBe((await get(`${api.url}/head`)).text);
    expect((await get(`${api.url}/d/unknown/head`)).text).toContain("local, second, third-one, broken");
  });

  it("links of a deployment stay within it", async () => {
    const base = `${api.url}/d/second`;
    const page = (await get(`${base}/explorer`)).text;
    const links = [...page.matchAll(/(?:href|action)="(\/[^"]*)"/g)].map(([, link = ""]) => link);
    const outside = links.filter((link) => !link.startsWith("/d/second/"));
    expect(outside.filter((link) => !/\/assets\/|icon/.test(link)).sort()).toEqual([
      "/d/broken/explorer",
      "/d/third-one/explorer",
      "/explorer",
    ]);
    const document = JSON.parse((await get(`${base}/openapi.json`)).text) as { servers: unknown };
    expect(document.servers).toEqual([{ url: "/d/second" }]);
    expect((await get(`${base}/llms.txt`)).text).toContain("(/d/second/docs#");
    const response = await fetch(`${base}/`, { redirect: "manual" });
    expect(response.headers.get("location")).toBe("/d/second/openapi.json");
  });

  it("a deployment takes writes that were signed for it, and rejects those for another", async () => {
    const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
    const { contracts, chainId } = assertDefined(stage.stages.get("second"), "the second").deployment;
    const audience = `${api.url}/d/second`;
    const writer = { account, chainId, intentBook: contracts.IntentBook, audience };
    const schema = { name: "of the second", json_schema: { type: "object" } };
    const own = createSextant({ api: audience, writer });
    await expect(own.publishAttestationSchema(schema)).resolves.toMatchObject({ name: schema.name });
    const other = createSextant({ api: `${api.url}/d/third-one`, writer });
    await expect(other.publishAttestationSchema(schema)).rejects.toMatchObject({ code: "WRITE_FORBIDDEN" });
  });

  it("a deployment has blocks of its own: what a client has seen of one says nothing about another", async () => {
    const short = assertDefined(stage.stages.get("third-one"), "the third");
    const long = assertDefined(stage.stages.get("second"), "the second");
    await long.runSteps(1);
    const head = await long.head();
    expect(head.number).toBeGreaterThan((await short.head()).number);
    const second = createSextant({ api: `${api.url}/d/second` });
    await second.getHead({ minBlock: head.number });
    const third = createSextant({ api: `${api.url}/d/third-one` });
    await expect(third.getHead()).resolves.toMatchObject({
      block_number: String((await short.head()).number),
    });
    await expect(second.getHead()).resolves.toMatchObject({ block_number: String(head.number) });
    // The same block, which the other chain does not have yet.
    const wait = { headers: { "x-min-block": String(head.number) } };
    expect((await fetch(`${api.url}/d/second/head`, wait)).status).toBe(200);
    expect((await fetch(`${api.url}/d/third-one/head`, wait)).status).toBe(503);
  });

  it("the list of deployments is the same below every path", async () => {
    const [root, below] = [await get(`${api.url}/deployments`), await get(`${api.url}/d/second/deployments`)];
    // Why one is not ready may say for how long.
    const plain = ({ text }: typeof root) =>
      JSON.stringify(JSON.parse(text).deployments).replace(/"reason":"[^"]*"/g, "");
    expect(plain(below)).toBe(plain(root));
  });

  it("all deployments share the connections of a process", async () => {
    const [row] = await stage.query(
      "select count(*) from pg_stat_activity where datname = current_database() and application_name like 'sextant %'",
    );
    expect(Number(row?.count)).toBeLessThan(4 * 16);
  });

  it("processes wait for the lock of each deployment; one is dropped and the others stay", async () => {
    const before = await Promise.all(SCHEMAS.slice(0, 2).map((schema) => stage.digest(schema)));
    const busy = stage.run(deploymentsCommand, { drop: "third-one", yes: true });
    await expect(busy).rejects.toMatchObject({ code: "DATABASE_BUSY" });
    const second = await stage.start("indexer", ONLY);
    await waitFor(() => standsBy(second, "second"));
    await first.stop();
    await waitFor(async () => (await get(`${second.url}/ready`)).status === 200);
    const all = await stage.start("indexer");
    await waitFor(async () => (await get(`${all.url}/d/third-one/ready`)).status === 200);
    expect([await standsBy(all, "local"), await standsBy(all, "second")]).toEqual([true, true]);
    await all.stop();

    // A schema with payments is the default one of another installation, whatever its name.
    await stage.query("insert into sextant_third_one.stored_snapshots values ('\\x01', '\\x02', '\\x03')");
    const guarded = stage.run(deploymentsCommand, { drop: "third-one", yes: true });
    await expect(guarded).rejects.toMatchObject({ code: "USAGE_INVALID", message: /records of payments/ });
    await stage.query("delete from sextant_third_one.stored_snapshots");
    const asked = await stage.run(deploymentsCommand, { drop: "third-one" });
    expect(asked).toEqual({
      code: 1,
      out: expect.stringMatching(/sextant_third_one has [1-9].* events[\s\S]*Nothing/),
    });
    const dropped = await stage.run(deploymentsCommand, { drop: "third-one", yes: true });
    expect(dropped).toEqual({ code: 0, out: expect.stringContaining("Dropped the deployment third-one") });
    expect(await Promise.all(SCHEMAS.slice(0, 2).map((schema) => stage.digest(schema)))).toEqual(before);
    await stage.stages.get("second")?.runSteps(1);
    const head = await stage.stages.get("second")?.head();
    await waitFor(async () => (await listIfServed())?.[1]?.indexed?.block_hash === head?.hash);
    const listed = await stage.run(deploymentsCommand);
    expect(listed.out).toMatch(/second +schema sextant_second .*block/);
    expect(listed.out).toMatch(/third-one +schema sextant_third_one .*nothing indexed/);
    await expect(stage.run(deploymentsCommand, { drop: "local", yes: true })).rejects.toMatchObject({
      code: "USAGE_INVALID",
    });
  });

  it("a deployment that is added while others run leaves them as they are", async () => {
    const before = await Promise.all(SCHEMAS.slice(0, 2).map((schema) => stage.digest(schema)));
    const added = await stage.start("indexer", { deployment: ["third-one"] });
    const head = await stage.stages.get("third-one")?.head();
    await waitFor(async () => (await listIfServed())?.[2]?.indexed?.block_hash === head?.hash);
    expect((await get(`${added.url}/ready`)).status).toBe(200);
    expect(JSON.parse((await get(`${api.url}/d/third-one/intents`)).text)).toMatchObject({
      intents: expect.arrayContaining([expect.anything()]),
    });
    expect(await Promise.all(SCHEMAS.slice(0, 2).map((schema) => stage.digest(schema)))).toEqual(before);
    expect((await list()).slice(0, 2).map(({ ready }) => ready)).toEqual([true, true]);
  });
});
