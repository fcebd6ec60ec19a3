// Signed writes over HTTP: valid for one body, server and resource, once; contracts verify their own signatures.
import type { Hex, PrivateKeyAccount } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  metadataWriteSubject,
  reservationWriteSubject,
  schemaWriteSubject,
} from "../../src/api/writes/signed-write.ts";
import { INTENT_OWNER, openWriteStage, UNRELATED_ACCOUNT, type WriteStage } from "./write-stage.ts";

let stage: WriteStage;
let intentId: bigint;
let otherId: bigint;
beforeAll(async () => {
  stage = await openWriteStage();
  intentId = await stage.submit(INTENT_OWNER, 1n);
  otherId = await stage.submit(INTENT_OWNER, 2n);
  await stage.waitUntilSynced();
});
afterAll(() => stage.close());

describe("with the key of an account", () => {
  it("a signed write is accepted from the owner only", async () => {
    const unsigned = await stage.signed.request("PUT", `/intents/${intentId}/metadata`, {});
    expect([unsigned.status, unsigned.headers.get("x-error-code")]).toEqual([401, "WRITE_UNAUTHENTICATED"]);
    const foreign = await stage.put(intentId, {}, UNRELATED_ACCOUNT);
    expect([foreign.status, foreign.headers.get("x-error-code")]).toEqual([403, "WRITE_FORBIDDEN"]);
    expect(foreign.body.error).toContain(stage.addressOf(UNRELATED_ACCOUNT).toLowerCase());
  });

  it("a signed write takes each version once, also concurrently", async () => {
    const version = stage.nextVersion();
    const both = await Promise.all([
      stage.put(intentId, { execution_data: "0x0a" }, INTENT_OWNER, version),
      stage.put(intentId, { execution_data: "0x0b" }, INTENT_OWNER, version),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const winner = both.find(({ status }) => status === 200);
    expect((await stage.get(`/intents/${intentId}`)).body.metadata).toEqual(winner?.body);
    const again = await stage.put(intentId, { execution_data: "0x0c" }, INTENT_OWNER, version);
    expect([again.status, again.headers.get("x-error-code")]).toEqual([409, "WRITE_REPLAYED"]);
  });

  it("a signed write is valid for this server and intent only", async () => {
    const request = {
      method: "PUT",
      path: `/intents/${intentId}/metadata`,
      body: {},
      version: stage.nextVersion(),
    };
    const owner = stage.person(INTENT_OWNER);
    const elsewhere = { ...request, audience: stage.open.url };
    expect((await stage.send(owner, metadataWriteSubject(intentId), elsewhere)).status).toBe(403);
    expect((await stage.send(owner, metadataWriteSubject(otherId), request)).status).toBe(403);
  });
});

it("a signed write of an account in the index is stored when others have filled all other storage", async () => {
  const { database } = stage.index;
  const free = privateKeyToAccount(generatePrivateKey());
  const publish = (text: string) => stage.signed.request("POST", "/catalogs", { catalog_json: `"${text}"` });
  const reserve = (by: PrivateKeyAccount, nonce: bigint) => {
    const { hash } = stage.wish(INTENT_OWNER, nonce);
    return stage.send(by, reservationWriteSubject(hash), {
      ...{ method: "POST", path: "/intents/metadata", version: stage.nextVersion() },
      body: { intent_hash: hash, owner: by.address },
    });
  };
  const writeAll = async (text: string, nonce: bigint) => [
    (await publish(text)).status,
    (await reserve(free, nonce)).status,
    (await reserve(stage.person(INTENT_OWNER), nonce + 1n)).status,
    (await stage.put(intentId, { execution_target: `0x${"11".repeat(20)}` })).status,
  ];
  // Fills a part of 10 GiB, which is the default.
  const fill = (percent: number) =>
    database.query(`update stored_total set bytes = ${(10 * 1024 ** 3 * percent) / 100}`);
  const { rows } = await database.query<{ bytes: string }>("select bytes from stored_total");
  try {
    await fill(89);
    expect(await writeAll("one", 900n)).toEqual([201, 201, 201, 200]);
    await fill(95);
    expect(await writeAll("two", 910n)).toEqual([503, 503, 201, 200]);
    await fill(100);
    expect(await writeAll("three", 920n)).toEqual([503, 503, 503, 503]);
  } finally {
    await database.query(`update stored_total set bytes = ${rows[0]?.bytes}`);
  }
});

describe("with code", () => {
  const wallet = `0x${"c0de".repeat(10)}` as Hex;
  // isValidSignature by hand: ecrecover(hash, v, r, s) is compared with one owner.
  const ownedBy = (owner: Hex): Hex =>
    `0x${[
      "600435600052",
      "60a43560f81c602052",
      "606435604052",
      "608435606052",
      "602060806080600060015afa50",
      `60805173${owner.slice(2)}14`,
      "631626ba7e60e01b02",
      "60005260206000f3",
    ].join("")}`;

  it("a contract account verifies signatures by its own rules", async () => {
    await stage.chain.setCode(wallet, ownedBy(stage.addressOf(INTENT_OWNER)));
    const { hash } = stage.wish(INTENT_OWNER, 20n);
    expect((await stage.reserve(hash, wallet, { execution_data: "0x01" })).status).toBe(201);
    const rejected = await stage.reserve(hash, wallet, { execution_data: "0x02" }, UNRELATED_ACCOUNT);
    expect([rejected.status, rejected.headers.get("x-error-code")]).toEqual([401, "WRITE_UNAUTHENTICATED"]);
    expect(rejected.body.error).toContain("ERC-1271");
  });

  it("a contract account can publish a schema if x-write-signer names it", async () => {
    const body = { name: "by a contract", schema_hash: `0x${"c1".repeat(32)}` };
    const subject = schemaWriteSubject(body.schema_hash as Hex);
    const request = {
      method: "POST",
      path: "/attestations/schemas",
      body,
      version: stage.nextVersion(),
      signer: wallet,
    };
    expect((await stage.send(stage.person(INTENT_OWNER), subject, request)).status).toBe(201);
    const foreign = await stage.send(stage.person(UNRELATED_ACCOUNT), subject, {
      ...request,
      version: stage.nextVersion(),
    });
    expect(foreign.status).toBe(401);
  });

  it("a contract account is never overruled by its key", async () => {
    const keyed = stage.person(30);
    const { hash } = stage.wish(30, 21n);
    const reserve = async () => {
      const { status, headers, text } = await stage.reserve(hash, keyed.address, {}, 30);
      return { status, code: headers.get("x-error-code"), text };
    };
    expect(await reserve()).toMatchObject({ status: 201 });
    // The same account with code that returns zero, reverts, fails, or asks for more memory than the gas can buy. The last
    // one ends at once: a loop until the gas is gone takes the node as long as the machine is busy, and the API waits
    // for ten seconds only.
    for (const code of ["0x60206000f3", "0x60006000fd", "0xfe", "0x63ffffffff5f20"] as const) {
      await stage.chain.setCode(keyed.address, code);
      expect(await reserve(), code).toMatchObject({ status: 401, code: "WRITE_UNAUTHENTICATED" });
    }
  });
});
