// Write authorization: open on a development chain, elsewhere an EIP-712 signature with a version and a deadline.
import {
  DEADLINE_HEADER,
  SIGNATURE_HEADER,
  SIGNER_HEADER,
  VERSION_HEADER,
  type WriteDomain,
  type WriteMessage,
} from "@sextant/client/writes/typed-data";
import { type Hex, keccak256 } from "viem";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { parseUint } from "../../lib/decimal.ts";
import { Fault } from "../../lib/fault.ts";
import { parseAddress, parseBytes } from "../../lib/hex.ts";
import type { EndpointRequest, Security } from "../../schema/endpoint.ts";
import { addressParameter, type Parameter, uintParameter } from "../../schema/parameter.ts";
import type { RecordStore, StatementRunner } from "../../schema/record-store.ts";
import { sql } from "../../schema/sql.ts";
import { hashWrite, type WriteSubject } from "./signed-write.ts";
import { type AccountReader, recoverSigner, requireSignature, requireSigner } from "./verify-signature.ts";

export type WriteRequest = Pick<EndpointRequest, "rawBody" | "headers">;

type WriteAuthorization = {
  /** Null in open mode. */
  readonly signer: Hex | null;
  /** Consumes the version or rejects a replay. Call it in the transaction of the write. */
  claimVersion(rows: StatementRunner): Promise<void>;
};

export type WriteAuthority = {
  readonly mode: "open" | "signed";
  /** Headers of a write, for the OpenAPI document. */
  readonly headers: readonly Parameter[];
  /** The credentials of a write, for the OpenAPI document; null in open mode. */
  readonly security: Security | null;
  /** Only `author` may sign; with null anyone may, and the result names the signer. */
  authorize(request: WriteRequest, subject: WriteSubject, author: Hex | null): Promise<WriteAuthorization>;
  /** Throws unless a policy account is the owner's. It cannot sign itself: it has no ERC-1271. */
  requireSigner(account: Hex, owner: Hex): Promise<void>;
};

export type WriteOptions = { readonly store: RecordStore; readonly authority: WriteAuthority };

export const openWriteAuthority: WriteAuthority = {
  mode: "open",
  headers: [],
  security: null,
  authorize: async () => ({ signer: null, claimVersion: async () => undefined }),
  requireSigner: async () => undefined,
};

type SignedWriteOptions = {
  readonly domain: WriteDomain;
  readonly audience: () => string;
  readonly reads: AccountReader;
  readonly clock?: Clock;
};

export function createSignedWriteAuthority({
  domain,
  audience,
  reads,
  clock = systemClock,
}: SignedWriteOptions): WriteAuthority {
  return {
    mode: "signed",
    headers: SIGNED_HEADERS,
    security: WRITE_SECURITY,
    requireSigner: (account, owner) => requireSigner(reads, account, owner),
    async authorize(request, subject, author) {
      const { signature, version, deadline, signer } = readHeaders(request.headers);
      assertDeadline(deadline, BigInt(Math.floor(clock.nowMs() / 1_000)));
      const contentHash = keccak256(request.rawBody);
      const write: WriteMessage = { ...subject, audience: audience(), contentHash, version, deadline };
      const digest = hashWrite(domain, write);
      const account = author ?? signer ?? (await recoverSigner(digest, signature));
      await requireSignature(reads, account, {
        digest,
        signature,
        expected: describeExpected(write, domain),
      });
      return {
        signer: account,
        claimVersion: (rows) => claimVersion(rows, subject.resource, account, version),
      };
    },
  };
}

const UINT64_MAX = 2n ** 64n - 1n;
// Fits several keys or a passkey of a contract account; all headers together may have 16 KiB.
const SIGNATURE_BYTES_MAX = 4_096;
// Long enough for a person with a hardware wallet, short enough that a leaked signature soon expires.
const DEADLINE_SECONDS_MAX = 600n;

const uint64 = uintParameter(UINT64_MAX);
const hex = { json: { type: "string", pattern: "^0x([0-9a-fA-F]{2})+$" }, parse: String };
const header = (name: string, kind: Parameter["kind"], example: string, description: string): Parameter => ({
  name,
  in: "header",
  required: name !== SIGNER_HEADER,
  kind,
  description,
  example,
});

const WRITE_SECURITY: Security = {
  name: "signedWrite",
  scheme: {
    type: "apiKey",
    in: "header",
    name: SIGNATURE_HEADER,
    description: `An EIP-712 signature of this write, its ${VERSION_HEADER} and its ${DEADLINE_HEADER}, made for this request alone.`,
  },
};

const SIGNED_HEADERS: readonly Parameter[] = [
  header(
    SIGNATURE_HEADER,
    hex,
    `0x${"5e".repeat(64)}1b`,
    "EIP-712 signature of the Write (see docs/writing.md), or one that the signing contract accepts (ERC-1271).",
  ),
  header(
    VERSION_HEADER,
    uint64,
    "1767225600000",
    "Higher than any version the signer used for this resource before, such as Unix milliseconds.",
  ),
  header(DEADLINE_HEADER, uint64, "1767225900", "Unix seconds, not in the past and at most 600 ahead."),
  header(
    SIGNER_HEADER,
    addressParameter,
    `0x${"a1".repeat(20)}`,
    "Address of the signing contract, for writes that name no owner.",
  ),
];

type SignedHeaders = {
  readonly signature: Hex;
  readonly version: bigint;
  readonly deadline: bigint;
  readonly signer: Hex | null;
};

function readHeaders(headers: WriteRequest["headers"]): SignedHeaders {
  const missing = [SIGNATURE_HEADER, VERSION_HEADER, DEADLINE_HEADER].filter((name) => !headers[name]);
  if (missing.length > 0) {
    throw unauthenticated(`This write must be signed; missing headers: ${missing.join(", ")}.`);
  }
  try {
    const signer = headers[SIGNER_HEADER];
    return {
      signature: parseBytes(headers[SIGNATURE_HEADER], SIGNATURE_HEADER, SIGNATURE_BYTES_MAX),
      version: parseUint(headers[VERSION_HEADER], VERSION_HEADER, UINT64_MAX),
      deadline: parseUint(headers[DEADLINE_HEADER], DEADLINE_HEADER, UINT64_MAX),
      signer: signer === undefined ? null : parseAddress(signer, SIGNER_HEADER),
    };
  } catch (cause) {
    throw cause instanceof Fault ? unauthenticated(cause.message, cause) : cause;
  }
}

function assertDeadline(deadline: bigint, now: bigint): void {
  if (deadline < now) {
    throw unauthenticated(`The signature expired: its deadline was ${deadline}, and the time is ${now}.`);
  }
  if (deadline > now + DEADLINE_SECONDS_MAX) {
    throw unauthenticated(
      `${DEADLINE_HEADER} must be at most ${DEADLINE_SECONDS_MAX} seconds ahead; the time is ${now}.`,
    );
  }
}

/** A single statement, so that one of two concurrent equal versions wins. A rollback releases the version. */
async function claimVersion(
  rows: StatementRunner,
  resource: string,
  signer: Hex,
  version: bigint,
): Promise<void> {
  const claimed = await rows.run(
    sql`insert into write_versions (resource, signer, version) values (${resource}, ${signer}, ${version.toString()}) on conflict (resource, signer) do update set version = excluded.version, used_at = now() where excluded.version > write_versions.version returning version`,
  );
  if (claimed.length > 0) return;
  const [used] = await rows.run<{ version: string }>(
    sql`select version from write_versions where resource = ${resource} and signer = ${signer}`,
  );
  throw new Fault(
    "WRITE_REPLAYED",
    `${VERSION_HEADER} must be higher than ${used?.version}, the last version used for ${resource}.`,
  );
}

// Lists the expected values, so that the author of a wrong signature sees which one differs.
function describeExpected(write: WriteMessage, { chainId, intentBook }: WriteDomain): string {
  const { audience, action, resource, contentHash, version, deadline } = write;
  return `the signature must cover audience ${audience}, action ${action}, resource ${resource}, contentHash ${contentHash}, version ${version} and deadline ${deadline} for chain ${chainId} and contract ${intentBook}.`;
}

function unauthenticated(message: string, cause?: unknown): Fault {
  return new Fault("WRITE_UNAUTHENTICATED", message, cause === undefined ? {} : { cause });
}
