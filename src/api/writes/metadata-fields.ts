// The four things an owner can say about the execution of an intent; what is not given is null.
import { keccak256 } from "viem";
import { Fault } from "../../lib/fault.ts";
import { type Hex, parseAddress, parseBytes, parseHash } from "../../lib/hex.ts";
import type { JsonSchema } from "../../schema/column.ts";
import { closedObject, nullable } from "../../schema/json-schema.ts";

export type MetadataFields = {
  readonly execution_target: Hex | null;
  readonly execution_data: Hex | null;
  readonly required_attestation_subject: Hex | null;
  readonly required_attestation_schema: Hex | null;
};

// Calldata that no block of any chain we know would take in is no calldata.
const DATA_BYTES_MAX = 64 * 1024;
/** The data in hex, and the other fields of a body of either kind with their keys. */
export const METADATA_BODY_BYTES_MAX = 2 * DATA_BYTES_MAX + 4_096;

/** Body properties. */
export const metadataProperties: Readonly<Record<keyof MetadataFields, JsonSchema>> = {
  execution_target: nullable({ type: "string", pattern: "^0x[0-9a-fA-F]{40}$" }),
  execution_data: nullable({
    type: "string",
    maxLength: 2 + DATA_BYTES_MAX * 2,
    pattern: "^0x([0-9a-fA-F]{2})*$",
  }),
  required_attestation_subject: nullable({ type: "string", pattern: "^0x[0-9a-fA-F]{64}$" }),
  required_attestation_schema: nullable({ type: "string", pattern: "^0x[0-9a-fA-F]{64}$" }),
};

/** The keys of a record and how they look, between those that name it and its times. */
export function metadataRecordSchema(title: string, named: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const time = { type: "string", format: "date-time" };
  const hex = Object.keys(metadataProperties).map((key) => [key, nullable({ type: "string" })]);
  const properties = { ...named, ...Object.fromEntries(hex), created_at: time, updated_at: time };
  return { title, ...closedObject(properties) };
}

export function parseMetadataFields(body: Readonly<Record<string, unknown>>): MetadataFields {
  const read = (key: keyof MetadataFields, parse: (value: unknown, name: string) => Hex): Hex | null =>
    body[key] === undefined || body[key] === null ? null : parse(body[key], key);
  return {
    execution_target: read("execution_target", parseAddress),
    execution_data: read("execution_data", (value, name) => parseBytes(value, name, DATA_BYTES_MAX)),
    required_attestation_subject: read("required_attestation_subject", parseHash),
    required_attestation_schema: read("required_attestation_schema", parseHash),
  };
}

export function hashExecutionData({ execution_data: data }: MetadataFields): Hex | null {
  return data === null ? null : keccak256(data);
}

const NOT_COMMITTED = `0x${"0".repeat(64)}`;

/** An intent that committed to its data on chain takes no other; one that did not takes any. */
export function assertCommittedData(fields: MetadataFields, committed: Hex): void {
  const hash = hashExecutionData(fields);
  if (hash === null || committed === NOT_COMMITTED || hash === committed) return;
  throw new Fault(
    "HASH_MISMATCH",
    `execution_data has the hash ${hash}, but the intent committed to ${committed} on chain.`,
  );
}
