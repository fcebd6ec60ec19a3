// API responses, current and historical, equal an independent model of the protocol.
import type { Hex } from "viem";
import { foldIntoModel } from "../../reference-model/fold-events.ts";
import { readModelEvents } from "../../reference-model/model-events.ts";
import { COMPARED_RECORDS_MAX } from "../actors/readers.ts";
import {
  COMPARED_LISTS,
  type ComparedList,
  type ListRecord,
  parseListRecords,
  pickFields,
} from "../clients/api-lists.ts";
import { openServiceConnection } from "../clients/connection.ts";
import type { PastResponses } from "../clients/past-responses.ts";
import type { E2eSystem } from "../system.ts";
import type { E2eCheck } from "./check.ts";

// Each block is the whole history folded again; enough of them to meet every list.
const BLOCKS_MAX = 60;

export const referenceModelCheck = (past: PastResponses): E2eCheck => ({
  name: "responses equal the model",
  async run(system) {
    const { protocol, observations } = system;
    const { request } = protocol.chain;
    const head = await protocol.head();
    const events = await readModelEvents(request, protocol.deployment);
    const responses = [...(await readCurrentResponses(system, head.number)), ...past.all()];
    const blocks = [...new Set(responses.map(({ block }) => block))].slice(0, BLOCKS_MAX);
    let compared = 0;
    for (const block of blocks) {
      const then = foldIntoModel(events, block);
      const number = `0x${block.toString(16)}`;
      const { timestamp } = (await request("eth_getBlockByNumber", [number, false])) as { timestamp: Hex };
      for (const { list, text } of responses.filter((each) => each.block === block)) {
        const expected = firstPage(list, list.expected(then, BigInt(timestamp)));
        const fields = Object.keys(expected[0] ?? {});
        const found = parseListRecords(list, text).map((record) => pickFields(record, fields));
        compared += 1;
        if (JSON.stringify(found) !== JSON.stringify(expected)) {
          observations.recordViolation(
            `${list.path} at block ${block} is not what the model says${difference(found, expected)}`,
          );
        }
      }
    }
    return `${compared} responses at ${blocks.length} blocks, ${events.length} events`;
  },
});

async function readCurrentResponses({ services }: E2eSystem, block: number) {
  const [api] = services.apis;
  if (!api) throw new Error("there is no API");
  const connection = openServiceConnection(api.url);
  try {
    const responses = [];
    for (const list of COMPARED_LISTS) {
      const { text } = await connection.request(`${list.path}?limit=${COMPARED_RECORDS_MAX}`);
      responses.push({ list, block, text });
    }
    return responses;
  } finally {
    connection.close();
  }
}

function firstPage(list: ComparedList, records: readonly ListRecord[]): readonly ListRecord[] {
  const id = (record: ListRecord) => BigInt(String(record[list.id]));
  const order = list.newestFirst ? -1 : 1;
  return [...records].sort((a, b) => (id(a) < id(b) ? -order : order)).slice(0, COMPARED_RECORDS_MAX);
}

function difference(found: readonly ListRecord[], expected: readonly ListRecord[]): string {
  const at = expected.findIndex((record, index) => JSON.stringify(record) !== JSON.stringify(found[index]));
  return `: ${JSON.stringify(found[at])} instead of ${JSON.stringify(expected[at])} (${found.length} of ${expected.length})`;
}
