// Responses with real proofs of a chain: what is proven, under which condition, and what each lie becomes.
import { type Hex, keccak256, numberToHex, pad } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Json,
  type ProofStage,
  SPENDER,
  slotOf,
  startProofStage,
  TOKENS,
  UNAPPROVED,
  USDC,
} from "../testing/proof-stage.ts";
import { describeStatus, requireProven, type Verification, verify } from "./verify.ts";

let stage: ProofStage;
let snapshot: Json;
beforeAll(async () => {
  stage = await startProofStage();
  snapshot = await stage.snapshot();
});
afterAll(() => stage.chain.stop());

const check = (report: Json, options: Parameters<typeof verify>[1] = {}) =>
  verify(JSON.stringify(report), options);
const nodes = () => [stage.chain.rpcUrl, nodeOnOtherHost(stage.chain.rpcUrl)];
/** One more witness: two URLs of a host are one. */
const nodeOnOtherHost = (url: string) => url.replace("127.0.0.1", "localhost");
const show = ({ rows }: Verification) => rows.map((row) => [row.path, describeStatus(row)]);
const wrongOf = ({ rows }: Verification) =>
  rows.filter(({ status }) => status === "wrong").map(({ reason }) => reason);
const edit = (change: (report: never) => void, report = snapshot): Json => {
  const copy = structuredClone(report);
  change(copy as never);
  return copy;
};

describe("an honest snapshot", () => {
  it("is proven if the blocks are real, and tokens of unknown layout if that is right too", async () => {
    const result = await check(snapshot);
    expect(wrongOf(result)).toEqual([]);
    expect(show(result)).toEqual([
      ["signature", "unknown"],
      ["receipt", "unknown"],
      ["/proofs/chains/0/block", "proven if the block is real"],
      ["/tokens/0/rawBalance", "proven if the block is real"],
      ...[1, 2, 3, 4, 5].map((index) => [
        `/tokens/${index}/rawBalance`,
        "proven if the block is real and the layout is right",
      ]),
      ["/tokens/6/rawBalance", "unknown"],
      ["/gas/0/rawBalance", "proven if the block is real"],
      ["/accounts/0/kind", "proven if the block is real"],
      ["/accounts/0/nonce", "proven if the block is real"],
    ]);
    expect(result.ok).toBe(false);
    expect(result.summary).toMatch(/nothing vouches for the blocks/);
  });

  it("is proven by two nodes that have the block and execute the tokens", async () => {
    const result = await check(snapshot, { nodes: nodes() });
    expect(wrongOf(result)).toEqual([]);
    expect(result.rows.filter(({ status }) => status === "proven")).toHaveLength(10);
    expect(result.ok).toBe(true);
    expect(result.blocks).toMatchObject([{ chain: "ethereum", chainId: "eip155:1", nodes: 2 }]);
    expect(result.coverage).toEqual({
      ...{ provenUsd: "1383.206798", conditionalUsd: "0", totalUsd: "1398.706798", share: "0.9889" },
    });
  });

  it("is not proven by one node, unless the reader says that one is enough", async () => {
    const [node = ""] = nodes();
    const one = await check(snapshot, { nodes: [node, node] });
    expect(one.ok).toBe(false);
    expect(one.rows.map(({ status }) => status)).not.toContain("proven");
    const own = await check(snapshot, { nodes: [node], nodesMin: 1 });
    expect(own.ok).toBe(true);
  });

  it("is proven without a node when the reader knows the hash of the block, but for unknown layouts", async () => {
    const [{ hash = "" } = {}] = snapshot.blocks as { hash: string }[];
    const result = await check(snapshot, { blockHashes: [hash] });
    expect(result.ok).toBe(true);
    expect(() => requireProven(result, "/tokens/0/rawBalance")).not.toThrow();
    expect(() => requireProven(result, "/tokens/1/rawBalance")).toThrow(/proven if the layout is right/);
    expect(() => requireProven(result, "/tokens/9/rawBalance")).toThrow(/no value/);
  });

  it("is not vouched for by nodes of another chain or by nodes that do not respond", async () => {
    const other = await startProofStage(10);
    try {
      const dead = "http://127.0.0.1:1/secret-key";
      const result = await check(snapshot, { nodes: [other.chain.rpcUrl, dead] });
      expect(result.ok).toBe(false);
      expect(JSON.stringify(result)).not.toContain("secret-key");
      expect(result.rows.find(({ path }) => path === "node 127.0.0.1:1")).toMatchObject({
        status: "unknown",
      });
    } finally {
      await other.chain.stop();
    }
  });
});

describe("the block of a response", () => {
  const number = () => Number((snapshot.blocks as Json[])[0]?.number);
  const url = (query: string) => `https://api.example/portfolio?address=${stage.wallet}${query}`;
  const asked = (report: Json, query: string) =>
    verify({ body: JSON.stringify(report), request: { method: "GET", url: url(query) } }, { nodes: nodes() });

  it.each([
    ["its block", () => `&block=ethereum:${number()}`],
    ["its block by another name of the chain", () => `&chains=eth&block=%20ETH:${number()}`],
    ["its chain", () => "&chains=ethereum,eth"],
    ["a chain that could not be read", () => "&chains=ethereum,base&partial=allow"],
    ["a time", () => "&at=7d"],
  ])("fits a request for %s", async (_, query) => {
    expect(wrongOf(await asked(snapshot, query()))).toEqual([]);
  });

  it.each([
    ["another block", () => `&block=ethereum:${number() - 1}`, /another block/],
    [
      "another block of two",
      () => `&block=ethereum:${number() + 1},base:${number()}&partial=allow`,
      /another block/,
    ],
    ["another chain", () => "&chains=base", /other chains/],
    ["another chain by its block", () => `&block=base:${number()}`, /other chains/],
    ["more chains", () => "&chains=ethereum,base", /other chains/],
    ["two wallets", () => `&address=0x${"11".repeat(20)}`, /address twice/],
    ["two blocks", () => `&block=ethereum:${number()}&block=ethereum:1`, /block twice/],
  ])("is wrong for a request for %s", async (_, query, reason) => {
    expect(wrongOf(await asked(snapshot, query()))).toEqual([expect.stringMatching(reason)]);
  });

  it("is wrong when either side of a difference is another one than the request names", async () => {
    const diff = await stage.diff();
    const [from, to] = ["from", "to"].map((side) =>
      Number((diff[side] as { blocks: Json[] }).blocks[0]?.number),
    ) as [number, number];
    expect(wrongOf(await asked(diff, `&from=ethereum:${from}&to=ethereum:${to}`))).toEqual([]);
    expect(wrongOf(await asked(diff, `&from=ethereum:${from - 1}&to=ethereum:${to}`))).not.toEqual([]);
    expect(wrongOf(await asked(diff, `&from=ethereum:${from}&to=ethereum:${to + 1}`))).not.toEqual([]);
    expect(wrongOf(await asked(diff, "&from=snapshot-id"))).toEqual([]);
  });

  it("has an age by its header, which people see", async () => {
    const timestamp = (await check(snapshot)).blocks[0]?.timestamp ?? "";
    const now = new Date(Date.parse(timestamp) + 3 * 3_600_000 + 1_000);
    const result = await check(snapshot, { nodes: nodes(), now });
    expect(result.blocks).toMatchObject([{ timestamp, ageSeconds: 10_801 }]);
    const row = result.rows.find(({ path }) => path === "/proofs/chains/0/block");
    expect(row?.reason).toBe(`2 of your nodes have it; of ${timestamp}, 3 hours old`);
    const early = await check(snapshot, { now: new Date(Date.parse(timestamp) - 120_000) });
    expect(early.rows[2]?.reason).toContain("later than your clock");
  });
});

it("takes two URLs of one host for one node", async () => {
  const urls = [stage.chain.rpcUrl, `${stage.chain.rpcUrl}/second`];
  const [two, one] = [
    await check(snapshot, { nodes: urls }),
    await check(snapshot, { nodes: urls, nodesMin: 1 }),
  ];
  const blocks = [two, one].map(({ rows }) => rows.find(({ path }) => path.endsWith("/block"))?.status);
  expect(blocks).toEqual(["proven-if", "proven"]);
});

describe("a node whose connection has closed", () => {
  /** Fails as fetch does when the server has just closed the connection, so many times for each body. */
  const closing = (times: number): typeof fetch => {
    const failed = new Map<unknown, number>();
    return (url, init) => {
      const key = `${url} ${init?.body}`;
      const count = failed.get(key) ?? 0;
      failed.set(key, count + 1);
      return count < times ? Promise.reject(new TypeError("fetch failed")) : fetch(url, init);
    };
  };

  it("is asked once more, and vouches for the block", async () => {
    const result = await check(snapshot, { nodes: nodes(), fetch: closing(1) });
    expect(result.rows.filter(({ path }) => path.endsWith("/block")).map(({ status }) => status)).toEqual([
      "proven",
    ]);
  });

  it("vouches for nothing if it fails again", async () => {
    const result = await check(snapshot, { nodes: nodes(), fetch: closing(9) });
    expect(result.rows.map(({ status }) => status)).not.toContain("proven");
  });
});

describe("a response that lists a value twice", () => {
  const twice = (list: string, report: Json): Json =>
    edit((copy: Record<string, Json[]>) => {
      const [first = {}] = copy[list] ?? [];
      // The proofs would have to name both: without them the list alone is at fault.
      copy[list]?.push(structuredClone(first));
      delete copy.proofs;
    }, report);

  it.each(["tokens", "gas", "accounts"])("is wrong when it is in %s", async (list) => {
    expect(wrongOf(await check(twice(list, snapshot)))).toEqual([expect.stringContaining("twice")]);
  });

  it("is wrong when it is a permission or a change", async () => {
    expect(wrongOf(await check(twice("permissions", await stage.exposure())))).toHaveLength(1);
    expect(wrongOf(await check(twice("tokens", await stage.diff())))).toHaveLength(1);
  });

  it("is wrong when a second name of its chain hides that", async () => {
    const alias = edit((copy: { chains: string[]; tokens: Json[]; proofs?: unknown }) => {
      copy.chains.push("main");
      copy.tokens.push({ ...copy.tokens[0], chain: "main" });
      delete copy.proofs;
    });
    expect(wrongOf(await check(alias))).toEqual([expect.stringContaining("twice")]);
  });
});

describe("a layout", () => {
  /** Nodes of the stage that reject a method, by the path of their URL. */
  const rejecting =
    (host: string, rejected: string): typeof fetch =>
    (url, init) => {
      const { method } = JSON.parse(String(init?.body)) as { method: string };
      const isRejected = method === rejected && String(url).includes(host);
      return isRejected ? Promise.resolve(new Response('{"error":{}}')) : fetch(url, init);
    };
  const open = ({ rows }: Verification) => rows.find(({ path }) => path === "/tokens/1/rawBalance");

  it("is open when only one node executes the token", async () => {
    const result = await check(snapshot, { nodes: nodes(), fetch: rejecting("localhost", "eth_call") });
    expect(open(result)).toMatchObject({ status: "proven-if", conditions: ["layout"] });
  });

  it("is not settled by a node that does not say that it has the block", async () => {
    const [first = "", second = ""] = nodes();
    const third = `${second}/third`;
    const result = await check(snapshot, {
      nodes: [first, second, third],
      fetch: (url, init) => rejecting("/third", "eth_getBlockByNumber")(url, init),
    });
    expect(open(result)).toMatchObject({ status: "proven" });
    const without = await check(snapshot, {
      nodes: [first, third],
      fetch: rejecting("/third", "eth_getBlockByNumber"),
      blockHashes: [String((snapshot.blocks as Json[])[0]?.hash)],
    });
    expect(open(without)).toMatchObject({ status: "proven-if", conditions: ["layout"] });
  });
});

describe("an honest exposure", () => {
  it("has allowances, absent ones and those in Permit2 proven", async () => {
    const exposure = await stage.exposure();
    const result = await check(exposure, { nodes: nodes() });
    expect(wrongOf(result)).toEqual([]);
    expect(result.rows.find(({ path }) => path === "/permissions/5/rawAllowance")).toMatchObject({
      ...{ status: "proven", reason: expect.stringContaining("Permit2") },
    });
    expect(result.rows.find(({ path }) => path === "/permissions/6/kind")).toMatchObject({
      status: "unknown",
    });
  });

  it.each([
    ["another spender", (p: Json) => Object.assign(p, { spender: `0x${"77".repeat(20)}` }), 5],
    ["another end", (p: Json) => Object.assign(p, { expiresAt: null }), 5],
    [
      "another amount in Permit2",
      (p: Json) => Object.assign(p, { rawAllowance: "78", allowance: "0.000078" }),
      5,
    ],
    ["another contract in its way", (p: Json) => Object.assign(p, { via: SPENDER }), 5],
    ["another amount", (p: Json) => Object.assign(p, { rawAllowance: "0", allowance: "0" }), 0],
    ["another token", (p: Json) => Object.assign(p, { contract: TOKENS[1]?.contract }), 0],
  ])("is wrong with %s", async (_, change, index) => {
    const exposure = await stage.exposure();
    change((exposure.permissions as Json[])[index] ?? {});
    expect((await check(exposure, { nodes: nodes() })).ok).toBe(false);
    expect(wrongOf(await check(exposure))).not.toEqual([]);
  });
});

describe("the owner of an NFT", () => {
  const open = ({ rows }: Verification) => rows.find(({ path }) => path === "/permissions/7/tokenId");

  it("is proven by nodes that execute the collection, and only if the layout is right without them", async () => {
    const exposure = await stage.exposure();
    expect(open(await check(exposure, { nodes: nodes() }))).toMatchObject({ status: "proven" });
    expect(open(await check(exposure))).toMatchObject({ conditions: ["block", "layout"] });
  });

  it("is not another mapping of the collection, such as that of approvals", async () => {
    const exposure = await stage.exposure();
    const { permissions } = exposure as { permissions: Json[] };
    const approval = permissions[7] ?? {};
    const layout = { rule: "solidity", position: "0x4" as Hex, bits: "0-255" };
    const id = numberToHex(9, { size: 20 });
    const value = pad(stage.wallet, { size: 32 });
    await stage.chain.request("hardhat_setStorageAt", [approval.contract, slotOf(layout, [id]), value]);
    // A difference compares this block with the one before, whose header is older than the change.
    await stage.chain.mine(2);
    const lie = await stage.exposure({ layout, tokenId: id });
    expect(wrongOf(await check(lie))).toEqual([]);
    expect(open(await check(lie, { nodes: nodes() }))).toMatchObject({ status: "wrong" });
  });
});

describe("allowances of spenders that a request names", () => {
  const query = `spenders=${SPENDER.toUpperCase().replace("0X", "0x")},${UNAPPROVED}`;
  const checkFor = (report: Json, asked = query) =>
    verify({
      body: JSON.stringify(report),
      request: { method: "GET", url: `https://sextant.example/exposure?address=${stage.wallet}&${asked}` },
    });

  it("each is proven, also that a spender has none", async () => {
    const exposure = await stage.exposure();
    const { rows } = await check(exposure, { nodes: nodes() });
    const statuses = (exposure.allowances as Json[]).map(({ spender, rawAllowance }, index) => {
      const row = rows.find(({ path }) => path === `/allowances/${index}/rawAllowance`);
      return [spender === UNAPPROVED ? "0" : rawAllowance, row?.value, row?.status];
    });
    // Two spenders may take each of five tokens directly and in Permit2.
    expect(statuses).toHaveLength(20);
    expect(statuses).toEqual(statuses.map(([raw]) => [raw, raw, "proven"]));
    const shown = rows.find(({ path }) => path === "/allowances/1/rawAllowance")?.stated;
    expect(shown).toBe(`0 units of ${(exposure.allowances as Json[])[1]?.contract} to ${UNAPPROVED}`);
    expect(rows.find(({ path }) => path === "/permissions/0/rawAllowance")?.stated).toMatch(` to ${SPENDER}`);
    expect(wrongOf(await checkFor(exposure))).toEqual([]);
  });

  it.each([
    ["contradict its permissions", (rows: Json[]) => Object.assign(rows[0] ?? {}, { rawAllowance: "0" })],
    ["state another amount", (rows: Json[]) => Object.assign(rows[1] ?? {}, { rawAllowance: "1" })],
    [
      "state an end of nothing",
      (rows: Json[]) => Object.assign(rows[11] ?? {}, { expiresAt: "2030-01-01T00:00:00.000Z" }),
    ],
    ["state no end", (rows: Json[]) => Object.assign(rows[10] ?? {}, { expiresAt: null })],
    ["list a pair twice", (rows: Json[]) => rows.push({ ...rows[1] })],
    ["are of another kind", (rows: Json[]) => Object.assign(rows[1] ?? {}, { kind: "nft-operator" })],
  ])("a response is wrong whose allowances %s", async (_, change) => {
    const exposure = await stage.exposure();
    change(exposure.allowances as Json[]);
    expect(wrongOf(await check(exposure))).not.toEqual([]);
  });

  it("a response is wrong that shows both of two amounts, each by a layout of its own", async () => {
    const exposure = await stage.exposure();
    const [contract, layout] = [
      TOKENS[1]?.contract,
      { rule: "solidity", position: "0x66" as Hex, bits: "0-255" },
    ];
    const slot = slotOf(layout, [stage.wallet, SPENDER]);
    const { storageProof } = (await stage.chain.request("eth_getProof", [contract, [slot], "latest"])) as {
      readonly storageProof: readonly { readonly proof: readonly Hex[] }[];
    };
    const lie = edit(
      (report: { allowances: Json[]; proofs: { chains: { claims: Json[]; nodes: Hex[] }[] } }) => {
        const at = report.allowances.findIndex(
          (each) => each.contract === contract && each.spender === SPENDER,
        );
        Object.assign(report.allowances[at] ?? {}, { rawAllowance: "0" });
        for (const chain of report.proofs.chains) {
          const claim = chain.claims.find(({ path }) => path === `/allowances/${at}/rawAllowance`);
          Object.assign(claim ?? {}, { layout, slot });
          chain.nodes = [...new Set([...chain.nodes, ...storageProof.flatMap(({ proof }) => proof)])];
        }
      },
      exposure,
    );
    expect(wrongOf(await check(lie))).toEqual([expect.stringContaining("contradicts /permissions/1")]);
  });

  it.each([
    ["leave out one in Permit2", (rows: Json[]) => rows.pop()],
    ["leave out all in Permit2", (rows: Json[]) => rows.splice(10)],
    [
      "state a direct one, unknown this time, in place of one in Permit2",
      (rows: Json[]) => Object.assign(rows.at(-1) ?? {}, { kind: "erc20-allowance", rawAllowance: null }),
    ],
  ])("a response is wrong without proofs, too, whose allowances %s", async (_, change) => {
    const { proofs: _proofs, ...exposure } = await stage.exposure();
    expect(wrongOf(await checkFor(exposure))).toEqual([]);
    change(exposure.allowances as Json[]);
    expect(wrongOf(await checkFor(exposure))).toEqual([
      expect.stringMatching(/in Permit2|in the response twice/),
    ]);
  });

  it("a response is wrong whose request was for other spenders", async () => {
    const exposure = await stage.exposure();
    for (const asked of [`spenders=${SPENDER}`, `${query},0x${"1".repeat(40)}`, `${query}&${query}`]) {
      expect(wrongOf(await checkFor(exposure, asked)), asked).toHaveLength(1);
    }
    const { allowances: _, ...without } = exposure;
    expect(wrongOf(await checkFor(without))).toEqual([expect.stringContaining("leaves out the spenders")]);
  });
});

describe("the nonce of an account", () => {
  it("is what the account's proof shows, and open without a claim", async () => {
    const lie = edit((report: { accounts: Json[] }) =>
      Object.assign(report.accounts[0] ?? {}, { nonce: "9999" }),
    );
    expect(wrongOf(await check(lie))).toEqual([expect.stringContaining("The proof shows")]);
    const unproven = edit((report: { accounts: Json[]; proofs: { chains: { claims: Json[] }[] } }) => {
      Object.assign(report.accounts[0] ?? {}, { nonce: null });
      const claim = report.proofs.chains[0]?.claims.find(({ kind }) => kind === "nonce") ?? {};
      delete claim.account;
      Object.assign(claim, { kind: "none", reason: "too_many" });
    });
    const result = await check(unproven, { nodes: nodes() });
    expect(wrongOf(result)).toEqual([]);
    expect(result.rows.find(({ path }) => path === "/accounts/0/nonce")).toMatchObject({ status: "unknown" });
  });
});

describe("an honest difference", () => {
  it("has both sides proven, each at its block, and absent amounts as zero", async () => {
    const result = await check(await stage.diff(), { nodes: nodes() });
    expect(wrongOf(result)).toEqual([]);
    expect(result.blocks.map(({ side }) => side)).toEqual(["from", "to"]);
    expect(
      result.rows.filter(({ path, status }) => path.startsWith("/tokens") && status === "proven"),
    ).toHaveLength(8);
  });

  it("is wrong when its sides are swapped", async () => {
    const swapped = edit(
      (report: { proofs: { chains: Json[] } }) => {
        for (const chain of report.proofs.chains) chain.side = chain.side === "from" ? "to" : "from";
      },
      await stage.diff(),
    );
    expect(wrongOf(await check(swapped))).not.toEqual([]);
  });
});

describe("a service that lies with proofs that fit", () => {
  it("cannot show a header of its own to a reader with nodes", async () => {
    const forged = await forgeState(stage);
    const offline = await check(forged);
    expect(offline.ok).toBe(false);
    expect(offline.rows.map(({ status }) => status)).not.toContain("proven");
    const online = await check(forged, { nodes: nodes() });
    expect(wrongOf(online)).toEqual([expect.stringContaining("has another block at this height")]);
    expect(online.rows.map(({ status }) => status)).not.toContain("proven");
  });

  it("cannot pass another mapping of the token off as its balances", async () => {
    const token = TOKENS[1]?.contract ?? USDC;
    const lie = await pointElsewhere(stage, token);
    expect(wrongOf(await check(lie))).toEqual([]);
    const result = await check(lie, { nodes: nodes() });
    expect(wrongOf(result)).toEqual([expect.stringContaining("keeps it elsewhere")]);
    expect(result.ok).toBe(false);
  });

  it("cannot choose a slot for which it knows what the nodes are made to return", async () => {
    const own = await startProofStage();
    try {
      const slot = slotOf({ rule: "solidity", position: "0x6f", bits: "0-95" }, [own.wallet]);
      const guess = BigInt(keccak256(slot)) & (2n ** 96n - 1n);
      await own.hold(TOKENS.map(({ amount }, index) => (index === 1 ? guess : amount)));
      const lie = await pointElsewhere(own, TOKENS[1]?.contract ?? USDC, "0-95");
      const result = await check(lie, { nodes: [own.chain.rpcUrl, nodeOnOtherHost(own.chain.rpcUrl)] });
      expect(wrongOf(result)).toEqual([expect.stringContaining("keeps it elsewhere")]);
    } finally {
      await own.chain.stop();
    }
  });

  it("is asked about another word in each check, and never about few bits", async () => {
    const words = new Set<string>();
    const record: typeof fetch = (url, init) => {
      const { method, params } = JSON.parse(String(init?.body)) as { method: string; params: Json[] };
      if (method === "eth_call") words.add(JSON.stringify(params[2]));
      return fetch(url, init);
    };
    await check(snapshot, { nodes: nodes(), fetch: record });
    await check(snapshot, { nodes: nodes(), fetch: record });
    expect(words.size).toBe(10);
  });

  it.each([
    ["few bits", { position: "0x3", bits: "0-63" }, /bits of the layout/],
    ["a position that no compiler gives", { position: "0x101", bits: "0-255" }, /position that no token/],
    ["a position of a rule that has none", { rule: "erc7201", position: "0x3" }, /position that no token/],
  ])("cannot name a layout with %s", async (_, change, reason) => {
    const lie = edit((report: { proofs: { chains: { claims: Json[] }[] } }) => {
      const claim = report.proofs.chains[0]?.claims.find(({ path }) => path === "/tokens/1/rawBalance");
      Object.assign(claim?.layout as Json, change);
    });
    expect(wrongOf(await check(lie))).toEqual([expect.stringMatching(reason)]);
  });

  it("cannot claim a proof of a permission whose kind nothing proves", async () => {
    const exposure = await stage.exposure();
    const [first] = exposure.permissions as Json[];
    const { claims = [] } = (exposure.proofs as { chains: { claims: Json[] }[] }).chains[0] ?? {};
    Object.assign(first ?? {}, { kind: "allowance" });
    Object.assign(claims.find(({ path }) => path === "/permissions/0/rawAllowance") ?? {}, { kind: null });
    claims.splice(
      claims.findIndex(({ path }) => path === "/permissions/0/rawBalance"),
      1,
    );
    const result = await check(exposure, { nodes: nodes() });
    expect(wrongOf(result)).toEqual([expect.stringContaining("another kind")]);
    expect(result.ok).toBe(false);
  });

  it("cannot name another layout for a token that the verifier knows", async () => {
    const lie = await pointElsewhere(stage, USDC);
    expect(wrongOf(await check(lie))).toEqual([expect.stringContaining("known to keep the value elsewhere")]);
  });

  it.each([
    [
      "writes another amount for people",
      "balance is not the raw amount",
      (t: Json) => Object.assign(t, { balance: "9999" }),
    ],
    [
      "writes a value above the price",
      "more than the amount",
      (t: Json) => Object.assign(t, { valueUsd: "1250.250001" }),
    ],
    ["writes a value without a price", "has no price", (t: Json) => Object.assign(t, { priceUsd: null })],
    [
      "names another chain id",
      "another id for the same chain",
      (t: Json) => Object.assign(t, { chainId: "eip155:8453" }),
    ],
    [
      "writes another raw amount",
      "The proof shows",
      (t: Json) => Object.assign(t, { rawBalance: "1250250001", balance: "1250.250001" }),
    ],
  ])("is found when it %s", async (_, reason, change) => {
    const lie = edit((report: { tokens: Json[] }) => change(report.tokens[0] ?? {}));
    expect(wrongOf(await check(lie))).toEqual([expect.stringContaining(reason)]);
  });

  it.each([
    ["no code for an account that has some", { kind: "delegated", delegate: SPENDER }],
    ["a contract where there is no code", { kind: "safe" }],
  ])("is found when it states %s", async (_, stated) => {
    const lie = edit((report: { accounts: Json[] }) => Object.assign(report.accounts[0] ?? {}, stated));
    expect(wrongOf(await check(lie))).toEqual([expect.stringContaining("another kind of account")]);
  });
});

describe("a file", () => {
  it.each([
    ["that is not JSON", "{"],
    ["that has a member twice", '{"address":"0x1","address":"0x2"}'],
    ["that is a list", "[]"],
    ["that is nested without end", `${"[".repeat(100)}${"]".repeat(100)}`],
  ])("a file %s is wrong", async (_, text) => {
    const result = await verify(text);
    expect(result.ok).toBe(false);
    expect(result.rows).toMatchObject([{ path: "file", status: "wrong" }]);
  });

  it("a file with millions of escapes is read as any other", async () => {
    const text = "\\n".repeat(12_000_000);
    expect((await verify(`{"a":"${text}"}`)).ok).toBe(false);
    const repeated = await verify(`{"a":"${text}","\\"":"\\\\","\\"":1}`);
    expect(repeated.rows).toMatchObject([{ path: "file", reason: expect.stringContaining("twice") }]);
  });

  it("a file that is not UTF-8 is wrong", async () => {
    expect((await verify(Uint8Array.of(0x22, 0xff, 0x22))).rows).toMatchObject([
      { path: "file", status: "wrong" },
    ]);
  });

  it("a file without proofs and signature has nothing that vouches for it", async () => {
    const { proofs: _, ...bare } = snapshot;
    const result = await check(bare, { nodes: nodes() });
    expect(result.ok).toBe(false);
    expect(wrongOf(result)).toEqual([]);
    expect(result.summary).toMatch(/Nothing vouches/);
  });

  it("a file with a chain that has no proofs says why", async () => {
    const plain = edit((report: { proofs: { chains: Json[]; coverage: Json } }) => {
      const [entry = {}] = report.proofs.chains;
      const claims = (entry.claims as Json[]).map(({ path }) => ({
        path,
        kind: "none",
        reason: "node_failed",
      }));
      Object.assign(entry, { block: null, header: null, reason: "no_proofs", nodes: [], claims });
      Object.assign(report.proofs.coverage, { provenUsd: "0", share: "0" });
    });
    const result = await check(plain);
    expect(wrongOf(result)).toEqual([]);
    expect(result.rows.at(-1)).toMatchObject({ status: "unknown", reason: "not proven: node failed" });
  });
});

/** A state of the service's own: on a chain of its own the same tokens have other amounts. */
async function forgeState({ chain }: ProofStage): Promise<Json> {
  const own = await startProofStage(chain.chainId);
  try {
    // Another amount than accounts begin with: otherwise both chains could have the same block.
    await own.chain.request("hardhat_setBalance", [own.wallet, numberToHex(10n ** 25n)]);
    await own.chain.mine(1);
    await chain.mine(1);
    return await own.snapshot();
  } finally {
    await own.chain.stop();
  }
}

/** The service says that nothing is held, and proves it with a slot of the token that is empty. */
function pointElsewhere(stage: ProofStage, token: Hex, bits = "0-255"): Promise<Json> {
  const layout = { rule: "solidity", position: "0x6f", bits } as const;
  return stage.snapshot(
    stage.tokens.map((each) => (each.contract === token ? { ...each, layout, amount: 0n } : each)),
  );
}
