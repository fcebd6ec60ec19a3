// Thousands of forged records of the index against the verifier: each is rejected. Honest ones of every kind are accepted.

import type { Chance } from "@sextant/client/testing/forgeries";
import {
  type ForgedRecord,
  type OtherRecords,
  RECORD_FORGERIES,
} from "@sextant/client/testing/record-forgeries";
import { readHeader } from "@sextant/client/verify/header";
import { RECORD_LAYOUTS } from "@sextant/client/verify/record-layouts";
import { checkRecordLogs } from "@sextant/client/verify/record-logs";
import { verify } from "@sextant/client/verify/verify";
import fc from "fast-check";
import { type Hex, numberToHex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Secret } from "../../src/lib/secret.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import {
  readSharedHistory,
  SHARED_HISTORY_MS_MAX,
  type SimulatedHistory,
} from "../support/index/simulated-history.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { runsOf } from "../support/test-depth.ts";
import { openReadStage, type ReadStage } from "./api-stage.ts";

type Subject = { readonly honest: ForgedRecord; readonly others: OtherRecords; readonly text: string };

let stage: ReadStage;
let history: SimulatedHistory;
let api: TestApi;
const subjects: Subject[] = [];

const INCLUDE = "include=provenance";
const ALL = "include=provenance,requirements";
/** The records to forge: an id of each, and of another of the same kind. */
const WANTED = [
  ["intents", ALL, "select intent_id::text as id from intents where valid_to is null and status = 'FILLED'"],
  ["intents", ALL, "select intent_id::text as id from intents where valid_to is null and status = 'OPEN'"],
  ["agents", INCLUDE, "select agent_id::text as id from agents where valid_to is null"],
  ["attestations", INCLUDE, "select attestation_id::text as id from attestations where valid_to is null"],
  ["solvers", INCLUDE, "select solver_id::text as id from solvers where valid_to is null"],
  ["quotes", INCLUDE, "select hex_text(quote_hash) as id from quotes where valid_to is null"],
  ["receipts", INCLUDE, "select receipt_id::text as id from receipts where valid_to is null"],
  ["disputes", INCLUDE, "select dispute_id::text as id from disputes where valid_to is null"],
] as const;

beforeAll(async () => {
  [stage, history] = await Promise.all([openReadStage(), readSharedHistory()]);
  const { deployment, rpcUrl, head } = history;
  const proofs = { deployment, urls: [new Secret(rpcUrl)], onCall: null };
  api = await startTestApi(stage.database, { proofs });
  const read = async (path: string) => {
    const response = await fetch(`${api.url}${path}`);
    expect(response.status, path).toBe(200);
    return (await response.json()) as ForgedRecord;
  };
  const foreign = [await read("/attestors/1?proof=1"), await read("/agents/1?proof=1")] as const;
  for (const [path, include, query] of WANTED) {
    const [first, second] = await stage.rows(`${query} order by 1 limit 2`);
    if (first === undefined || second === undefined) throw new Error(`the history has too few ${path}`);
    const honest = await read(`/${path}/${first.id}?proof=1&${include}`);
    const others = {
      sibling: await read(`/${path}/${second.id}?proof=1&${include}`),
      earlier: await read(`/${path}/${first.id}?proof=1&${include}&block=${head - 1}`),
      foreign: path === "agents" ? foreign[0] : foreign[1],
    };
    subjects.push({ honest, others, text: JSON.stringify(honest) });
  }
}, SHARED_HISTORY_MS_MAX);
afterAll(async () => {
  await api?.close();
  await stage?.close();
});

/** The reader knows every block that any of the responses names, so that a proof is all that a forger lacks. */
const hashesOf = (...records: readonly ForgedRecord[]) =>
  records.flatMap(({ proofs: { block, logs } }) => [
    block.hash ?? "",
    ...logs.map((log) => String(log.block.hash)),
  ]);
const check = (text: string, { honest, others }: Subject) =>
  verify(text, {
    blockHashes: hashesOf(honest, others.sibling, others.earlier, others.foreign),
    deployments: [history.deployment],
  });

function createChance(seed: number): Chance {
  const next = seededRandom(seed);
  const number = (below: number) => Math.floor(next() * below);
  return { number, pick: (list) => list[number(list.length)] as never };
}

const TRIES = 40;

describe("a forged record", () => {
  it.each(RECORD_FORGERIES.map((forgery) => [forgery.name, forgery] as const))(
    "a record is rejected that %s",
    async (_, { forge }) => {
      const forged = fc.asyncProperty(fc.nat(), async (seed) => {
        const chance = createChance(seed);
        for (let tried = 0; tried < TRIES; tried += 1) {
          const subject = chance.pick(subjects);
          const record = structuredClone(subject.honest);
          if (!forge(record, chance, subject.others)) continue;
          const changed = JSON.stringify(record);
          expect(changed).not.toBe(subject.text);
          const result = await check(changed, subject);
          expect(result.ok, `${changed.slice(0, 300)} ${JSON.stringify(result.rows)}`).toBe(false);
          return;
        }
        throw new Error("no record can be forged in this way");
      });
      await fc.assert(forged, { numRuns: runsOf(Math.ceil(4_000 / RECORD_FORGERIES.length)) });
    },
  );
});

describe("an event of a record", () => {
  it("is rejected unless it is of the record's contract and has its id", () => {
    const [{ honest }] = subjects as [Subject];
    const { logs, contract, header } = honest.proofs;
    const layout = RECORD_LAYOUTS.get("intent");
    if (layout === undefined) throw new Error("intents have a layout");
    const key = (id: bigint) => numberToHex(id, { size: 32 });
    const id = BigInt(String(honest.intent_id));
    const read = (address: Hex, of: Hex) =>
      checkRecordLogs(logs, { layout, key: of, contract: address, head: readHeader(header) });
    expect(read(contract.address, key(id))).toHaveLength(3);
    expect(() => read(`0x${"77".repeat(20)}`, key(id))).toThrow("an event of another contract or record");
    expect(() => read(contract.address, key(id + 1n))).toThrow("an event of another contract or record");
  });
});

describe("an honest record", () => {
  it("is accepted, in whatever order its nodes and claims are", async () => {
    const honest = fc.asyncProperty(fc.nat(), async (seed) => {
      const chance = createChance(seed);
      const subject = chance.pick(subjects);
      const record = structuredClone(
        chance.pick([subject.honest, subject.others.sibling, subject.others.earlier]),
      );
      const { nodes, claims, logs } = record.proofs;
      for (const list of [nodes, claims, ...logs.map((log) => log.nodes)] as unknown[][]) {
        list.sort(() => chance.number(3) - 1);
      }
      const result = await check(JSON.stringify(record), subject);
      expect(result.rows.filter(({ status }) => status === "wrong")).toEqual([]);
      expect(result.ok).toBe(true);
    });
    await fc.assert(honest, { numRuns: runsOf(500) });
  });
});
