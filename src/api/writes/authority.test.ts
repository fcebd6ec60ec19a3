// Signed writes: valid for one body, resource and server, once, until a deadline.
import type { WriteDomain, WriteMessage } from "@sextant/client/writes/typed-data";
import { type Hex, keccak256 } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { signWrite } from "../../../tests/support/http/sign-write.ts";
import { openTestDatabase } from "../../../tests/support/index/test-index.ts";
import { systemClock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import type { RecordStore } from "../../schema/record-store.ts";
import { sql } from "../../schema/sql.ts";
import { openRecordStore } from "../../store/postgres/record-store.ts";
import {
  createSignedWriteAuthority,
  openWriteAuthority,
  type WriteAuthority,
  type WriteRequest,
} from "./authority.ts";
import { metadataWriteSubject, reservationWriteSubject } from "./signed-write.ts";
import type { AccountReader } from "./verify-signature.ts";

const NOW = 1_800_000_000;
const domain: WriteDomain = { chainId: 84_532, intentBook: `0x${"ab".repeat(20)}` };
const owner = privateKeyToAccount(keccak256("0x0a"));
const otherAccount = privateKeyToAccount(keccak256("0x0b"));
const address = owner.address.toLowerCase() as Hex;
const subject = metadataWriteSubject("7");
const noCode: AccountReader = { readCode: async () => "0x", call: async () => null };
const authority = createSignedWriteAuthority({
  domain,
  audience: () => "https://index.example",
  reads: noCode,
  clock: { ...systemClock, nowMs: () => NOW * 1_000 + 999 },
});

type Changes = Partial<
  Omit<WriteMessage, "contentHash"> & { body: string; domain: WriteDomain; signer: typeof owner }
>;

async function request(changes: Changes = {}): Promise<WriteRequest> {
  const {
    body = '{"execution_data":"0x01"}',
    domain: signedDomain = domain,
    signer = owner,
    ...rest
  } = changes;
  const write = {
    audience: "https://index.example",
    version: 1n,
    deadline: BigInt(NOW + 60),
    ...subject,
    ...rest,
  };
  return { headers: await signWrite(signer, signedDomain, { ...write, body }), rawBody: Buffer.from(body) };
}

const outcome = async (given: WriteRequest, by: WriteAuthority = authority): Promise<string> =>
  by.authorize(given, subject, address).then(
    ({ signer }) => `authorized ${signer}`,
    (error: unknown) => (error instanceof Fault ? error.code : String(error)),
  );

describe("a signed write", () => {
  it("authorizes its author", async () => {
    expect(await outcome(await request())).toBe(`authorized ${address}`);
  });

  it("accepts a deadline that is now or ten minutes ahead", async () => {
    expect(await outcome(await request({ deadline: BigInt(NOW) }))).toBe(`authorized ${address}`);
    expect(await outcome(await request({ deadline: BigInt(NOW + 600) }))).toBe(`authorized ${address}`);
  });

  it.each<[string, Changes]>([
    ["another server", { audience: "https://index.example.evil" }],
    ["another action", { action: "reserveIntentMetadata" }],
    ["another resource", { resource: "/intents/70/metadata" }],
    ["another chain", { domain: { ...domain, chainId: 8_453 } }],
    ["another deployment", { domain: { ...domain, intentBook: `0x${"ac".repeat(20)}` } }],
    ["another signer", { signer: otherAccount }],
  ])("rejects a signature for %s", async (_name, changes) => {
    expect(await outcome(await request(changes))).toBe("WRITE_FORBIDDEN");
  });

  it("rejects a body that differs in one byte", async () => {
    const given = await request();
    expect(await outcome({ ...given, rawBody: Buffer.from('{"execution_data": "0x01"}') })).toBe(
      "WRITE_FORBIDDEN",
    );
  });

  it("rejects a changed version or deadline header", async () => {
    const { headers, rawBody: bytes } = await request();
    expect(await outcome({ rawBody: bytes, headers: { ...headers, "x-write-version": "2" } })).toBe(
      "WRITE_FORBIDDEN",
    );
    const later = { ...headers, "x-write-deadline": String(NOW + 61) };
    expect(await outcome({ rawBody: bytes, headers: later })).toBe("WRITE_FORBIDDEN");
  });

  it.each<[string, Changes]>([
    ["in the past", { deadline: BigInt(NOW - 1) }],
    ["too far ahead", { deadline: BigInt(NOW + 601) }],
  ])("rejects a deadline %s", async (_name, changes) => {
    expect(await outcome(await request(changes))).toBe("WRITE_UNAUTHENTICATED");
  });

  it.each<[string, Record<string, string | undefined>]>([
    ["no signature", { "x-write-signature": undefined }],
    ["no version", { "x-write-version": undefined }],
    ["no deadline", { "x-write-deadline": "" }],
    ["a signature that is not hex", { "x-write-signature": "signed" }],
    ["a signature with an odd number of digits", { "x-write-signature": "0xabc" }],
    ["a signature that is too long", { "x-write-signature": `0x${"00".repeat(4_097)}` }],
    ["a version beyond 64 bits", { "x-write-version": "18446744073709551616" }],
    ["a version with a sign", { "x-write-version": "+1" }],
    ["a header given twice", { "x-write-version": "1, 2" }],
    ["a deadline in hex", { "x-write-deadline": "0x10" }],
  ])("rejects %s", async (_name, changes) => {
    const { headers, rawBody: bytes } = await request();
    expect(await outcome({ rawBody: bytes, headers: { ...headers, ...changes } })).toBe(
      "WRITE_UNAUTHENTICATED",
    );
  });

  it("returns the signer when anyone may sign, and rejects another than x-write-signer names", async () => {
    const given = await request({ signer: otherAccount });
    const anyone = await authority.authorize(given, subject, null);
    expect(anyone.signer).toBe(otherAccount.address.toLowerCase());
    const named = { ...given, headers: { ...given.headers, "x-write-signer": address } };
    await expect(authority.authorize(named, subject, null)).rejects.toMatchObject({
      code: "WRITE_FORBIDDEN",
    });
  });

  it("lists the expected values in the error", async () => {
    const { headers, rawBody: bytes } = await request({ resource: "/intents/8/metadata" });
    await expect(authority.authorize({ headers, rawBody: bytes }, subject, address)).rejects.toThrow(
      `audience https://index.example, action putIntentMetadata, resource /intents/7/metadata, contentHash ${keccak256(bytes)}, version 1 and deadline ${NOW + 60} for chain 84532 and contract ${domain.intentBook}.`,
    );
  });
});

describe("versions", () => {
  let store: RecordStore;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const opened = await openTestDatabase();
    store = openRecordStore(opened.database);
    drop = opened.drop;
  });
  beforeEach(() => store.run(sql`truncate write_versions`));
  afterAll(() => drop());

  const CHANGE = { client: "192.0.2.1", tables: [] };
  const claim = async (version: bigint, changes: Changes = {}, claimed = subject): Promise<string> => {
    const { claimVersion } = await authority.authorize(
      await request({ ...changes, ...claimed, version }),
      claimed,
      null,
    );
    return store.write(CHANGE, claimVersion).then(
      () => "claimed",
      (error: unknown) => (error instanceof Fault ? `${error.code} ${error.message}` : String(error)),
    );
  };

  it("rejects a version that is not higher than the last one", async () => {
    expect(await claim(5n)).toBe("claimed");
    const replayed =
      "WRITE_REPLAYED x-write-version must be higher than 5, the last version used for /intents/7/metadata.";
    expect([await claim(5n), await claim(4n)]).toEqual([replayed, replayed]);
    expect(await claim(6n)).toBe("claimed");
    expect(await claim(2n ** 64n - 1n)).toBe("claimed");
  });

  it("counts versions separately per resource and per signer", async () => {
    expect(await claim(2n ** 64n - 1n, { signer: otherAccount })).toBe("claimed");
    expect(await claim(1n)).toBe("claimed");
    expect(await claim(1n, {}, reservationWriteSubject(`0x${"01".repeat(32)}`))).toBe("claimed");
  });

  it("claims a version once when it is used concurrently", async () => {
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => claim(9n)));
    expect(outcomes.filter((each) => each === "claimed")).toHaveLength(1);
    expect(outcomes.filter((each) => each.startsWith("WRITE_REPLAYED"))).toHaveLength(11);
  });

  it("releases a version when the write rolls back", async () => {
    const { claimVersion } = await authority.authorize(await request({ version: 3n }), subject, address);
    const failing = store.write(CHANGE, async (rows) => {
      await claimVersion(rows);
      throw new Fault("CONFLICT", "no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await claim(3n)).toBe("claimed");
  });
});

describe("open writes", () => {
  it("authorizes an open write without a signature", async () => {
    expect(await outcome({ headers: {}, rawBody: Buffer.alloc(0) }, openWriteAuthority)).toBe(
      "authorized null",
    );
  });
});
