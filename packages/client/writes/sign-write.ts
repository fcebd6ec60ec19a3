// Signs a write with EIP-712, so that the indexing API takes it from its author alone.
import type { Hex } from "viem";
import { keccak256, toBytes } from "viem/utils";
import { SextantError } from "../errors.ts";
import { canonicalJson } from "./canonical-json.ts";
import {
  DEADLINE_HEADER,
  SIGNATURE_HEADER,
  SIGNER_HEADER,
  VERSION_HEADER,
  type WriteDomain,
  type WriteTypedData,
  writeTypedData,
} from "./typed-data.ts";

/** Who signs writes, and for which deployment. */
export interface Writer extends WriteDomain {
  /** Any account of viem. */
  readonly account: { readonly address: Hex; signTypedData(data: WriteTypedData): Promise<Hex> };
  /** The public base URL of the indexing API; default: the `api` of the client. */
  readonly audience?: string;
}

type Write = {
  /** The action and the resource: the id of the operation, and its subject. */
  readonly operation: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly value: Readonly<Record<string, unknown>>;
  /** As it is sent. */
  readonly body: string;
  readonly audience: string;
};

// Long enough for a person with a device, and half of what the API accepts.
const DEADLINE_SECONDS = 300n;

let lastVersion = 0n;

/** The headers that authorize the write. */
export async function signWrite(writer: Writer, write: Write): Promise<Readonly<Record<string, string>>> {
  const version = nextVersion();
  const deadline = BigInt(Math.floor(Date.now() / 1_000)) + DEADLINE_SECONDS;
  const message = {
    audience: (writer.audience ?? write.audience).replace(/\/+$/, ""),
    action: write.operation,
    resource: resourceOf(write),
    contentHash: keccak256(toBytes(write.body)),
    version,
    deadline,
  };
  const signature = await writer.account.signTypedData(writeTypedData(writer, message)).catch((cause) => {
    throw new SextantError("SIGNING_FAILED", "The account did not sign the write.", { cause });
  });
  return {
    [SIGNATURE_HEADER]: signature,
    [VERSION_HEADER]: version.toString(),
    [DEADLINE_HEADER]: deadline.toString(),
    // A contract's signature does not reveal its address, and no field of a schema names it.
    ...(write.operation === "publishAttestationSchema" && { [SIGNER_HEADER]: writer.account.address }),
  };
}

/** Milliseconds, and higher than the last one if two writes fall into one. */
function nextVersion(): bigint {
  const now = BigInt(Date.now());
  lastVersion = now > lastVersion ? now : lastVersion + 1n;
  return lastVersion;
}

function resourceOf({ operation, parameters, value }: Write): string {
  switch (operation) {
    case "putIntentMetadata":
      return `/intents/${String(parameters.id)}/metadata`;
    case "reserveIntentMetadata":
      return `/intents/metadata/${String(value.intent_hash).toLowerCase()}`;
    case "publishAttestationSchema":
      return `/attestations/schemas/${schemaHashOf(value)}`;
    case "registerWebhook":
    case "listWebhooks":
      return "/webhooks";
    case "manageWebhook":
      return `/webhooks/${String(parameters.id)}`;
    default:
      throw new SextantError("NOT_CONFIGURED", `This version of the client cannot sign ${operation}.`);
  }
}

function schemaHashOf({ schema_hash, json_schema }: Write["value"]): string {
  if (typeof schema_hash === "string" && schema_hash !== "") return schema_hash.toLowerCase();
  return keccak256(toBytes(canonicalJson(json_schema)));
}
