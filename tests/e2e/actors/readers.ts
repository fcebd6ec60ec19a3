// Readers of the API, each on one connection at a time: lists, single records, and the past, which may not change.

import { E2E_FINALITY_DEPTH } from "../chains/protocol-chain.ts";
import { COMPARED_LISTS, type ComparedList, findOrderError, parseListRecords } from "../clients/api-lists.ts";
import type { ApiSession, ApiSessions } from "../clients/api-session.ts";
import type { PastResponses } from "../clients/past-responses.ts";
import type { E2eSystem } from "../system.ts";
import { sleepUntilStopped } from "../wait.ts";
import type { E2eActor } from "./intermittent-fault.ts";

const REQUESTS_PER_CONNECTION = 150;
const BETWEEN_MS = 15;
const QUICK_REQUESTS = 12;
const PAGE = 7;
/** The most records a page has, and so the most that is compared. */
export const COMPARED_RECORDS_MAX = 100;

type ReaderContext = { readonly sessions: ApiSessions; readonly past: PastResponses };

type Turn = {
  readonly system: E2eSystem;
  readonly reading: ReaderContext;
  readonly session: ApiSession;
  readonly random: () => number;
};

export const createReader =
  (name: string, reading: ReaderContext): E2eActor =>
  async (system, stop) => {
    const random = system.random(name);
    const { apis } = system.services;
    while (!stop.aborted) {
      const slot = apis[Math.floor(random() * apis.length)];
      if (!slot?.running) {
        await sleepUntilStopped(BETWEEN_MS * 4, stop);
        continue;
      }
      const session = reading.sessions.open(slot);
      const turn = { system, reading, session, random };
      for (
        let requests = 0;
        requests < REQUESTS_PER_CONNECTION && !session.lost && !stop.aborted;
        requests += 1
      ) {
        await READS[Math.floor(random() * READS.length)]?.(turn);
        await sleepUntilStopped(random() * 2 * BETWEEN_MS, stop);
      }
      session.close();
    }
  };

const anyList = (random: () => number): ComparedList =>
  COMPARED_LISTS[Math.floor(random() * COMPARED_LISTS.length)] as ComparedList;

/** A page of what is there now, and one of its records by itself. */
async function now({ system, session, random }: Turn): Promise<void> {
  const list = anyList(random);
  const limit = 1 + Math.floor(random() * COMPARED_RECORDS_MAX);
  const reply = await session.request("lists read", `${list.path}?limit=${limit}`);
  if (reply === null) return;
  if (reply.status !== 200) {
    system.observations.recordViolation(`${list.path}returned ${reply.status}: ${reply.text}`);
    return;
  }
  const records = parseListRecords(list, reply.text);
  const objection = findOrderError(list, records);
  if (objection) system.observations.recordViolation(objection);
  const one = records[Math.floor(random() * records.length)];
  if (!one || !["/intents", "/solvers", "/attestors"].includes(list.path)) return;
  const before = session.head;
  const alone = await session.request("records read", `${list.path}/${one[list.id]}`);
  // On another fork it may be gone, or be another.
  if (alone === null || session.head?.hash !== before?.hash) return;
  const found = alone.status === 200 ? (JSON.parse(alone.text) as Record<string, unknown>) : {};
  if (found.block_number !== one.block_number) {
    system.observations.recordViolation(`${list.path}/${one[list.id]} is not as listed: ${alone.text}`);
  }
}

/** A list at a final block: new, or one that was read before. */
async function past({ system, reading, session, random }: Turn): Promise<void> {
  const known = random() < 0.5 ? reading.past.any(random) : undefined;
  const list = known?.list ?? anyList(random);
  const block = known?.block ?? (await finalBlock(system, session, random));
  if (block === null) return;
  const path = `${list.path}?limit=${COMPARED_RECORDS_MAX}&block=${block}`;
  const reply = await session.request("past read", path);
  if (reply === null) return;
  // An index that is behind says that it does not have the block yet.
  if (reply.status === 400 && session.head !== null && session.head.number < block) return;
  if (reply.status !== 200)
    system.observations.recordViolation(`${path}returned ${reply.status}: ${reply.text}`);
  else if (!reading.past.matchesEarlier({ list, block, text: reply.text })) {
    system.observations.recordViolation(`${path} has changed: ${reply.text.slice(0, 500)}`);
  }
}

/** All pages of a list at a final block are the list at that block. */
async function pages({ system, reading, session, random }: Turn): Promise<void> {
  const known = reading.past.any(random);
  if (!known) return;
  const { list, block } = known;
  const whole = parseListRecords(list, known.text);
  const collected: unknown[] = [];
  for (let cursor = ""; ; ) {
    const reply = await session.request("pages read", `${list.path}?limit=${PAGE}&block=${block}${cursor}`);
    if (reply === null) return;
    if (reply.status !== 200) {
      system.observations.recordViolation(
        `${list.path} at block ${block}returned ${reply.status}: ${reply.text}`,
      );
      return;
    }
    collected.push(...parseListRecords(list, reply.text));
    const { next_cursor } = (JSON.parse(reply.text) as { pagination: { next_cursor?: string } }).pagination;
    if (next_cursor === undefined || collected.length >= COMPARED_RECORDS_MAX) break;
    cursor = `&cursor=${encodeURIComponent(next_cursor)}`;
  }
  if (JSON.stringify(collected.slice(0, COMPARED_RECORDS_MAX)) !== JSON.stringify(whole)) {
    system.observations.recordViolation(`the pages of ${list.path} at block ${block} are not the list`);
  }
}

async function analytics({ system, session }: Turn): Promise<void> {
  const reply = await session.request("analytics read", "/analytics/commerce");
  if (reply !== null && reply.status !== 200) {
    system.observations.recordViolation(`/analytics/commercereturned ${reply.status}: ${reply.text}`);
  }
}

/** Alternates cached and fresh responses without a pause: a cached one may not be older than the fresh one before it. */
async function quickly({ session, random }: Turn): Promise<void> {
  for (let requests = 0; requests < QUICK_REQUESTS && !session.lost; requests += 1) {
    const fresh = `/attestors?limit=1&offset=${Math.floor(random() * 10_000)}`;
    await session.request("quick reads", requests % 2 === 0 ? fresh : "/merchants?limit=1");
  }
}

async function finalBlock(
  { protocol }: E2eSystem,
  { head }: ApiSession,
  random: () => number,
): Promise<number | null> {
  const { startBlock } = protocol.deployment;
  // Final for the index, too: one that is behind may still be on a branch that the chain has left.
  const newest = Math.min(await protocol.finalized(), (head?.number ?? 0) - E2E_FINALITY_DEPTH);
  return newest <= startBlock ? null : newest - Math.floor(random() ** 2 * (newest - startBlock));
}

const READS = [now, now, now, past, past, pages, analytics, quickly];
