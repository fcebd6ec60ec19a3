// Compares two APIs on one database, which must agree on records, pages, and what clients wrote through either of them.
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { TRAFFIC_LISTS } from "./traffic.ts";

type BothApis = { readonly before: string; readonly now: string };

type Page = { readonly pagination?: { readonly next_cursor?: string } };

// Pages of one record, so that almost every list has a second one.
const PAGE = 1;
const WAIT_MS_MAX = 60_000;
const POLL_MS = 50;

/** Both serve the block, whichever version indexed it. */
export async function waitForCheckpoint(block: number, urls: readonly string[]): Promise<void> {
  for (const url of urls) {
    for (const until = Date.now() + WAIT_MS_MAX; ; await sleep(POLL_MS)) {
      const response = await fetch(`${url}/merchants?limit=1`);
      const text = await response.text();
      const at = response.headers.get("x-indexed-block");
      if (response.status === 200 && Number(at) >= block) break;
      if (Date.now() > until) throw new Error(`${url} is at block ${at}, not ${block}: ${text}`);
    }
  }
}

/** Resolves once the API is one that a load balancer would send requests to. */
export async function waitForReady(url: string): Promise<void> {
  for (const until = Date.now() + WAIT_MS_MAX; ; await sleep(POLL_MS)) {
    const response = await fetch(`${url}/ready`);
    const text = await response.text();
    if (response.status === 200) return;
    if (Date.now() > until) throw new Error(`${url} is not ready: ${text}`);
  }
}

/** The new version may add fields; every field of the previous version must be equal. */
export async function expectSameRecords({ before, now }: BothApis): Promise<void> {
  let cursors = 0;
  for (const list of TRAFFIC_LISTS) {
    const target = `${list}?limit=${PAGE}`;
    const expected = await getJson<Page>(before + target);
    expect(await getJson(now + target), target).toMatchObject(expected);
    const cursor = expected.pagination?.next_cursor;
    if (cursor === undefined) continue;
    cursors += 1;
    // A load balancer sends the next page's request to either of them.
    const next = `${target}&cursor=${encodeURIComponent(cursor)}`;
    const page = await getJson<object>(before + next);
    expect(await getJson(now + next), next).toMatchObject(page);
    const back = (await getJson<Page>(now + target)).pagination?.next_cursor ?? "";
    expect(await getJson(`${before}${target}&cursor=${encodeURIComponent(back)}`), next).toEqual(page);
  }
  expect(cursors).toBeGreaterThan(TRAFFIC_LISTS.length / 2);
}

/** Writes of each kind through one API, read through the other. */
export async function expectWritesShared(writer: string, reader: string, tag: string): Promise<void> {
  const text = `{ "written" : "${tag}" }`;
  const { catalog_hash } = await send<{ catalog_hash: string }>("POST", `${writer}/catalogs`, {
    catalog_json: text,
  });
  expect(await (await fetch(`${reader}/catalogs/${catalog_hash}`)).text()).toBe(text);

  const schema = await send<{ schema_hash: string }>("POST", `${writer}/attestations/schemas`, {
    name: tag,
    json_schema: { type: "object", title: tag },
  });
  expect(await getJson(`${reader}/attestations/schemas/${schema.schema_hash}`)).toMatchObject({ name: tag });

  const { intents } = await getJson<{ intents: { intent_id: string }[] }>(`${writer}/intents?limit=1`);
  const target = `/intents/${intents[0]?.intent_id}`;
  const subject = `0x${Buffer.from(tag.padEnd(32)).toString("hex")}`;
  await send("PUT", `${writer}${target}/metadata`, { required_attestation_subject: subject });
  expect(await getJson(reader + target)).toMatchObject({
    metadata: { required_attestation_subject: subject },
  });
}

async function getJson<T>(url: string): Promise<T> {
  const response = await fetch(url);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
}

async function send<T>(method: string, url: string, body: object): Promise<T> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
}
