// Records that a service made up around true proofs: members that hide others, records that do not exist, other kinds, shapes.
import { RECORD_LAYOUTS, type RecordLayout, type StorageType } from "@sextant/client/verify/record-layouts";
import { requireProven, type Verification, verify } from "@sextant/client/verify/verify";
import { concat, type Hex, keccak256, numberToHex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Secret } from "../../src/lib/secret.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import {
  readSharedHistory,
  SHARED_HISTORY_MS_MAX,
  type SimulatedHistory,
} from "../support/index/simulated-history.ts";
import { openReadStage, type ReadStage } from "./api-stage.ts";

type Claim = { readonly path: string; readonly kind: string; readonly slot?: Hex; readonly reason?: string };
type Proofs = {
  readonly contract: { readonly address: Hex };
  readonly block: { readonly number: string; readonly hash: Hex; readonly timestamp: string };
  readonly nodes: readonly Hex[];
  readonly claims: readonly Claim[];
  readonly logs: readonly { readonly block: { readonly hash: Hex } }[];
};
type Body = Readonly<Record<string, unknown>> & { readonly proofs: Proofs };

let stage: ReadStage;
let history: SimulatedHistory;
let api: TestApi;
let filled: Body;

beforeAll(async () => {
  [stage, history] = await Promise.all([openReadStage(), readSharedHistory()]);
  const { deployment, rpcUrl } = history;
  api = await startTestApi(stage.database, {
    proofs: { deployment, urls: [new Secret(rpcUrl)], onCall: null },
  });
  const where = "valid_to is null and status = 'FILLED'";
  const { intent_id } = await stage.first(`select intent_id from intents where ${where} limit 1`);
  filled = await read(`/intents/${intent_id}?proof=1&include=requirements`);
}, SHARED_HISTORY_MS_MAX);
afterAll(async () => {
  await api?.close();
  await stage?.close();
});

async function read(path: string): Promise<Body> {
  const response = await fetch(api.url + path);
  expect(response.status, path).toBe(200);
  return (await response.json()) as Body;
}

/** The reader knows every block, so that only what the record says decides. */
const check = (body: object, { proofs: { block, logs } }: Body) =>
  verify(JSON.stringify(body), {
    blockHashes: [block.hash, ...logs.map((log) => log.block.hash)],
    deployments: [history.deployment],
  });

function expectNothingProven(result: Verification): void {
  expect(result.ok).toBe(false);
  const members = result.rows.filter(({ path }) => path.startsWith("/") && !path.startsWith("/proofs"));
  expect(members.filter(({ status }) => status.startsWith("proven"))).toEqual([]);
}

const withoutClaims = ({ proofs }: Body, prefix: string): Proofs => ({
  ...proofs,
  claims: proofs.claims.filter(({ path }) => !path.startsWith(prefix)),
});

describe("a member of a record", () => {
  it.each([
    ["fill", "amount_out"],
    ["fill", "solver"],
    ["requirements", "execution_target"],
  ])("is not hidden by another one that is called like its pointer: %s/%s", async (outer, inner) => {
    const honest = filled[outer] as Record<string, unknown>;
    expect((await check(filled, filled)).ok).toBe(true);
    const { proofs, [outer]: _, ...rest } = filled;
    for (const name of [`${outer}/${inner}`, `${outer}~1${inner}`, `~0${outer}`]) {
      const forged = { ...rest, [outer]: { ...honest, [inner]: "9" }, [name]: honest[inner], proofs };
      const result = await check(forged, filled);
      expectNothingProven(result);
      expect(() => requireProven(result, `/${outer}/${inner}`)).toThrow();
    }
  });

  it.each([["a fill"], [{}], [true], [["a fill"]]])("has the shape of its kind: fill %j", async (fill) => {
    const stored = filled.proofs.claims.find(({ path }) => path === "/status");
    for (const claim of [
      { path: "/fill", kind: "storage", slot: stored?.slot },
      { path: "/fill", kind: "none", reason: "event" },
    ]) {
      const { claims, logs, ...others } = withoutClaims(filled, "/fill/");
      const proofs = { ...others, claims: [...claims, claim], logs: logs.slice(0, 1) };
      expectNothingProven(await check({ ...filled, fill, proofs }, filled));
      expectNothingProven(await check({ ...filled, fill, proofs: { ...proofs, claims } }, filled));
    }
  });

  it("is a fill only of an intent that its proofs show as filled", async () => {
    const where = "valid_to is null and status = 'OPEN'";
    const { intent_id } = await stage.first(`select intent_id from intents where ${where} limit 1`);
    const open = await read(`/intents/${intent_id}?proof=1`);
    const fill = {
      ...(filled.fill as object),
      ...{ result_hash: undefined, trace_hash: undefined, attestation_id: undefined },
    };
    const stated = Object.keys(JSON.parse(JSON.stringify(fill)));
    const none = (path: string) => ({ path, kind: "none", reason: "event" });
    const [claims, logs] = [withoutClaims(open, "/fill").claims, open.proofs.logs];
    const added = [...claims, ...stated.map((name) => none(`/fill/${name}`))];
    const forged = { ...open, fill, proofs: { ...open.proofs, claims: added, logs } };
    expect((await check(open, open)).ok).toBe(true);
    expectNothingProven(await check(forged, open));
    const unproven = added.map((claim) => (claim.path === "/status" ? none("/status") : claim));
    const claimed = { ...forged, status: "FILLED", proofs: { ...forged.proofs, claims: unproven } };
    const claim = await check(claimed, open);
    for (const path of ["/status", "/fill/solver"]) expect(() => requireProven(claim, path)).toThrow();
    const hidden = { ...filled, fill: null };
    const left = [...withoutClaims(filled, "/fill").claims, none("/fill")];
    const shown = filled.proofs.logs.slice(0, 1);
    expectNothingProven(
      await check({ ...hidden, proofs: { ...filled.proofs, claims: left, logs: shown } }, filled),
    );
  });

  it("is wrong in no honest record whose node proves nothing", async () => {
    const claims = filled.proofs.claims.map(({ path }) => ({ path, kind: "none", reason: "node_refused" }));
    const proofs = {
      ...filled.proofs,
      block: null,
      header: null,
      reason: "no_proofs",
      nodes: [],
      logs: [],
      claims,
    };
    const { contract } = filled.proofs;
    const bare = { ...filled, proofs: { ...proofs, contract: { ...contract, code: null } } };
    const { rows } = await check(bare, filled);
    expect(rows.filter(({ status }) => status === "wrong")).toEqual([]);
  });

  it("is missing from no record, and from no part of one", async () => {
    for (const [outer, inner] of [
      ["owner", null],
      ["fill", "amount_in"],
      ["requirements", "data_hash"],
    ] as const) {
      const { [outer]: part, ...rest } = filled;
      const { [inner ?? ""]: _, ...left } = Object(part) as Record<string, unknown>;
      const proofs = withoutClaims(filled, inner === null ? `/${outer}` : `/${outer}/${inner}`);
      expectNothingProven(await check({ ...rest, ...(inner !== null && { [outer]: left }), proofs }, filled));
    }
  });
});

const zeroOf = (type: StorageType): string | boolean => {
  if (type === "bool") return false;
  if (type === "text") return "";
  if (type === "bytes") return "0x";
  return type.startsWith("uint") ? "0" : `0x${"00".repeat(type === "address" ? 20 : 32)}`;
};

/** The slots that a member is read from, and its value if all of them are empty. */
function readEmpty(layout: RecordLayout, key: Hex, path: string) {
  const slots: Hex[] = [];
  const slotOf = (position: number) => keccak256(concat([key, numberToHex(position, { size: 32 })]));
  const member = (slot: number, type: StorageType) => {
    slots.push(numberToHex(BigInt(slotOf(layout.position)) + BigInt(slot), { size: 32 }));
    return zeroOf(type);
  };
  const other = (position: number, type: StorageType) => {
    slots.push(slotOf(position));
    return zeroOf(type);
  };
  const value =
    path === layout.id ? member(...layout.exists) : layout.fields[path]?.({ member, other, timestamp: 1n });
  return { slots, value };
}

async function proveSlots(honest: Body, slots: readonly Hex[]): Promise<readonly Hex[]> {
  const { contract, block } = honest.proofs;
  const params = [contract.address, slots, numberToHex(BigInt(block.number))];
  const response = await fetch(history.rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getProof", params }),
  });
  const { result } = (await response.json()) as {
    result: { accountProof: Hex[]; storageProof: { proof: Hex[] }[] };
  };
  return [...new Set([...result.accountProof, ...result.storageProof.flatMap(({ proof }) => proof)])];
}

const ABSENT = 999_999n;

/** A record that was never made, with true proofs that its storage is empty. */
async function forgeAbsent(honest: Body, layout: RecordLayout, idClaim: "none" | "storage") {
  const key = numberToHex(ABSENT, { size: 32 });
  const body: Record<string, unknown> = {};
  const slots: Hex[] = [];
  const claims = Object.entries(honest).flatMap(([path, value]): Claim[] => {
    if (path === "proofs") return [];
    const empty = readEmpty(layout, key, path);
    const isStored = empty.value !== undefined && (path !== layout.id || idClaim === "storage");
    body[path] = isStored ? empty.value : value;
    if (path === layout.id) body[path] = layout.idType === "uint" ? ABSENT.toString() : key;
    if (!isStored) return [{ path: `/${path}`, kind: "none", reason: "derived" }];
    slots.push(...empty.slots);
    return [{ path: `/${path}`, kind: "storage", slot: empty.slots[0] ?? "0x" }];
  });
  const nodes = await proveSlots(honest, slots);
  return { ...body, proofs: { ...honest.proofs, nodes, claims, logs: [] } };
}

describe("a record that does not exist", () => {
  it.each([...RECORD_LAYOUTS])("is not proven by its empty storage: %s", async (_, layout) => {
    const id =
      layout.idType === "uint"
        ? "1"
        : String((await stage.first("select hex_text(quote_hash) as id from quotes limit 1")).id);
    const honest = await read(`/${layout.path}/${id}?proof=1`);
    expect((await check(honest, honest)).ok).toBe(true);
    for (const idClaim of ["none", "storage"] as const) {
      const result = await check(await forgeAbsent(honest, layout, idClaim), honest);
      expect(result.ok, JSON.stringify(result.rows)).toBe(false);
      if (idClaim === "none") expectNothingProven(result);
    }
  });
});

describe("the kind of a record", () => {
  it("is said, and is that of all members", async () => {
    const { id } = await stage.first("select hex_text(quote_hash) as id from quotes limit 1");
    const quote = await read(`/quotes/${id}?proof=1`);
    expect(await check(quote, quote)).toMatchObject({ ok: true, record: { kind: "quote", id } });
    const { proofs, settled: _, expires_at: __, ...shared } = quote;
    const further = { receipt_id: "999", result_hash: `0x${"ab".repeat(32)}`, block_number: "9999" };
    const none = Object.keys(further).map((name) => ({ path: `/${name}`, kind: "none", reason: "event" }));
    const claims = [...proofs.claims.filter(({ path }) => path.slice(1) in shared), ...none];
    expectNothingProven(
      await check({ ...shared, ...further, proofs: { ...proofs, claims, logs: [] } }, quote),
    );
    const added = { ...proofs, claims: [...proofs.claims, ...none] };
    expectNothingProven(await check({ ...quote, ...further, proofs: added }, quote));
  });
});
