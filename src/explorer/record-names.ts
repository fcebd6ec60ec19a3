// The names of records that sentences and receipts mention, read with the page that shows them.
import type { Html } from "../lib/html.ts";
import { html } from "../lib/html.ts";
import { PinLostFault } from "../schema/reads/read-together.ts";
import type { ApiReader } from "./api-reader.ts";
import { type RecordKind, recordLink } from "./components.ts";
import type { PageContext, RecordNames } from "./context.ts";
import { findName, type NamedRecord, readDocumentNames, renderGivenName } from "./metadata-name.ts";
import { padKeys } from "./pad-keys.ts";

const KINDS: ReadonlySet<unknown> = new Set(["agent", "facilitator", "merchant", "service", "solver"]);

// The names of as many records of each kind are read with a page: most pages mention fewer, and the rest keep their ids.
const RECORDS_MAX = 8;
// A part of a sentence is five levels deep; documents of others may be nested without end.
const DEPTH_MAX = 6;
// A sentence has no room for more.
const NAME_LENGTH_MAX = 32;
// Numbers of 256 bits, and addresses.
const ID = /^(\d{1,78}|0x[0-9a-fA-F]{40})$/;

const keyOf = (kind: unknown, id: unknown) => `${kind} ${id}`;

type Mentions = ReadonlyMap<RecordKind, ReadonlySet<string>>;

/** The records in what a page has loaded: those of sentences, and the sellers of receipts. */
export function findMentions(loaded: unknown): Mentions {
  const found = new Map<RecordKind, Set<string>>();
  const add = (kind: unknown, id: unknown) => {
    if (!KINDS.has(kind) || typeof id !== "string" || !ID.test(id)) return;
    const ids = found.get(kind as RecordKind) ?? new Set();
    if (ids.size < RECORDS_MAX) found.set(kind as RecordKind, ids.add(id));
  };
  const visit = (value: unknown, depth: number): void => {
    if (typeof value !== "object" || value === null || depth > DEPTH_MAX) return;
    if ("record" in value && "id" in value) add(value.record, value.id);
    if ("receipt_id" in value && "merchant_id" in value) {
      add("merchant", value.merchant_id);
      if ("service_numeric_id" in value) add("service", value.service_numeric_id);
    }
    for (const [key, each] of Object.entries(value)) {
      // Anyone may publish a schema, whose keys are then not ours.
      if (key !== "json_schema") visit(each, depth + 1);
    }
  };
  visit(loaded, 0);
  return found;
}

/** A page shows ids alone if its names cannot be read, or if it has made all its requests. */
export async function readRecordNames(api: ApiReader, mentions: Mentions): Promise<RecordNames> {
  if (api.requestsLeft < 1) return new Map();
  try {
    return await readNames(api, mentions);
  } catch (error) {
    if (error instanceof PinLostFault) throw error;
    return new Map();
  }
}

/** Reads the mentioned records in one statement, and their documents in another. */
async function readNames(api: ApiReader, mentions: Mentions): Promise<RecordNames> {
  const reads = [...mentions].flatMap(([kind, ids]) =>
    padKeys(ids, RECORDS_MAX).map(async (id) => {
      const found = await api.findRecord<NamedRecord>(kind, id);
      return found === null ? [] : [{ key: keyOf(kind, id), record: found.body }];
    }),
  );
  const found = (await Promise.all(reads)).flat();
  const records = api.requestsLeft < 1 ? [] : found.map(({ record }) => record);
  const documents = await readDocumentNames(api, records);
  return new Map(
    found.flatMap(({ key, record }) => {
      const name = findName(record, documents);
      return name === null ? [] : [[key, name] as const];
    }),
  );
}

/** The link of a record, followed by its name if it has one. */
export function namedLink(page: PageContext, kind: RecordKind, id: string, label?: string): Html {
  const name = page.names?.get(keyOf(kind, id));
  const link = recordLink(page, kind, id, label);
  return name === undefined ? link : html`${link} ${renderGivenName(name, NAME_LENGTH_MAX)}`;
}
