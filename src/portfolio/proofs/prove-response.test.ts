// Proofs of a real EVM's state for tokens of every layout: each is checked here by its own code, and none is sold that a node invented.
import { plainTokenAbi, plainTokenBytecode } from "@sextant/contracts/generated/plain-token";
import { returningCode } from "@sextant/contracts/test/hostile-token-code";
import {
  concat,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  fromRlp,
  type Hex,
  keccak256,
  numberToHex,
  size,
  toHex,
  toRlp,
} from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type ChangeResult,
  flipDigit,
  rejectMethod,
  startProofNode,
} from "../../../tests/support/nodes/proof-node.ts";
import { createTestRpc } from "../../../tests/support/nodes/test-rpc.ts";
import { readProvenNumbers } from "../../../tests/support/portfolio/check-claims.ts";
import { localChainConfig, startPortfolioStage } from "../../../tests/support/portfolio/portfolio-stage.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Exposure } from "../../schema/portfolio/exposure.ts";
import type { ProofChain, ResponseProofs } from "../../schema/portfolio/proofs.ts";
import { withBlockHash } from "../block-hashes.ts";
import { createChainAccess } from "../chain-access.ts";
import type { ProvableField } from "./provable-fields.ts";
import { describeProvableExposure, ResponseProver } from "./prove-response.ts";

const address = (number: number): Hex => numberToHex(0x7000 + number, { size: 20 });
const word = (value: bigint): Hex => toHex(value, { size: 32 });
const OPENZEPPELIN_5 = 0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00n;
const TOP_BIT = 1n << 255n;

const stage = await startPortfolioStage();
const { wallet, chain } = stage;

/** Hashes the holder in a mapping: of Solidity, of Vyper or of Solady. */
const SLOTS = {
  solidity: (position: bigint) =>
    keccak256(encodeAbiParameters([{ type: "address" }, { type: "uint256" }], [wallet, position])),
  vyper: (position: bigint) =>
    keccak256(encodeAbiParameters([{ type: "uint256" }, { type: "address" }], [position, wallet])),
  solady: () => keccak256(concat([wallet, "0x0000000000000000", "0x87a211a2"])),
};

/** The slot of its holder, the bits of the word that it returns, and what the word has besides them. */
type TokenCase = {
  readonly rule: keyof typeof SLOTS;
  readonly position: bigint;
  readonly mask: bigint;
  readonly flags?: bigint;
  /** The number that it returns for a word of one. */
  readonly factor?: bigint;
};

const ALL_BITS = 2n ** 256n - 1n;

/** A token whose `balanceOf` reads its mapping, in bytes of the EVM. */
function tokenCode({ rule, position, mask, factor = 1n }: TokenCase): Hex {
  const holder: Hex = "0x600435";
  const store = (value: Hex, offset: number): Hex =>
    concat([value, "0x60", numberToHex(offset, { size: 1 }), "0x52"]);
  const base: Hex = concat(["0x7f", word(rule === "solady" ? 0x87a211a2n : position)]);
  const keys = {
    solidity: concat([store(holder, 0), store(base, 32), "0x604060002054"]),
    vyper: concat([store(base, 0), store(holder, 32), "0x604060002054"]),
    solady: concat([store(base, 12), store(holder, 0), "0x6020600c2054"]),
  };
  return concat([keys[rule], "0x7f", word(mask), "0x16", "0x7f", word(factor), "0x02", "0x60005260206000f3"]);
}

const whole = (rule: TokenCase["rule"], position: bigint): TokenCase => ({ rule, position, mask: ALL_BITS });
const CASES = {
  "a plain mapping": whole("solidity", 0n),
  "WETH9's third slot": whole("solidity", 3n),
  "OpenZeppelin 4 upgradeable": whole("solidity", 51n),
  "OpenZeppelin 5 upgradeable (ERC-7201)": whole("solidity", OPENZEPPELIN_5),
  Solady: whole("solady", 0n),
  "a mapping of Vyper": whole("vyper", 7n),
  "USDC with a blocked holder": { rule: "solidity", position: 9n, mask: TOP_BIT - 1n, flags: TOP_BIT },
  "an amount packed with flags": { rule: "solidity", position: 4n, mask: 2n ** 128n - 1n, flags: 5n << 128n },
} as const satisfies Record<string, TokenCase>;
const NAMES = Object.keys(CASES) as (keyof typeof CASES)[];
const AMOUNT = 1_234_567_890n;
const LIAR = address(90);
const REBASING = address(91);
const AMBIGUOUS = address(92);
const FAR = address(93);

const tokenOf = (name: keyof typeof CASES) => address(1 + NAMES.indexOf(name));

async function place(token: Hex, spec: TokenCase, stored: bigint): Promise<void> {
  await chain.request("hardhat_setCode", [token, tokenCode(spec)]);
  await chain.request("hardhat_setStorageAt", [token, SLOTS[spec.rule](spec.position), word(stored)]);
}

beforeAll(async () => {
  for (const name of NAMES) {
    const spec: TokenCase = CASES[name];
    await place(tokenOf(name), spec, AMOUNT | (spec.flags ?? 0n));
  }
  await chain.request("hardhat_setCode", [LIAR, returningCode(AMOUNT)]);
  await place(REBASING, { ...whole("solidity", 0n), factor: 2n }, AMOUNT);
  await place(AMBIGUOUS, whole("solidity", 0n), AMOUNT);
  await chain.request("hardhat_setStorageAt", [AMBIGUOUS, SLOTS.solidity(1n), word(AMOUNT)]);
  await place(FAR, whole("solidity", 777n), AMOUNT);
  await chain.request("hardhat_mine", ["0x2"]);
});

type RawBlock = { readonly number: Hex; readonly hash: Hex };
const readBlock = async () => (await chain.request("eth_getBlockByNumber", ["latest", false])) as RawBlock;

const erc20 = (path: string, token: Hex, value: bigint): ProvableField => ({
  path,
  kind: "erc20",
  token,
  value,
});

const { signal } = new AbortController();
const stops: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(stops.map((stop) => stop())));

const request = (method: string, params: readonly unknown[]) => chain.request(method, params);

/** A prover over these nodes, each with its own lies. */
async function openProver(...changes: readonly (ChangeResult | undefined)[]) {
  const nodes = await Promise.all(
    (changes.length === 0 ? [undefined] : changes).map((each) => startProofNode(request, each)),
  );
  stops.push(...nodes.map(({ stop }) => stop));
  // Megabytes of code take seconds while other suites run.
  const limits = { requestTimeoutMs: 30_000 };
  const { rpc } = createTestRpc(
    nodes.map(({ url }) => url),
    { limits },
  );
  const access = createChainAccess(rpc, localChainConfig([]));
  return { nodes, prover: new ResponseProver(new Map([[access.chain.slug, access]]), systemClock), access };
}

type Opened = Awaited<ReturnType<typeof openProver>>;

async function prove(
  { prover, access }: Opened,
  fields: readonly ProvableField[],
  holder: Hex = wallet,
): Promise<ResponseProofs> {
  const { number, hash } = await readBlock();
  const block = { number: Number(number), hash };
  const chains = [{ slug: access.chain.slug, block, fields }];
  const provable = { wallet: holder, chains, values: [] };
  const options = { isPast: false, budgetMs: 30_000 };
  return (await prover.prove(provable, options, new AbortController().signal)).proofs;
}

function onlyChain({ chains }: ResponseProofs): ProofChain {
  const [only] = chains;
  if (only === undefined || chains.length > 1) throw new Error("one chain");
  return only;
}

/** The words that the claims prove, by path, at the newest block. */
async function checkClaims(only: ProofChain): Promise<Map<string, bigint>> {
  expect(only.block?.hash).toBe((await readBlock()).hash);
  return readProvenNumbers(only);
}

const withoutOverrides: ChangeResult = (method, result, params) => {
  if (method === "eth_call" && params.length > 2) throw new Error("state overrides are not available");
  return result;
};

describe("balances", () => {
  it.each(NAMES)("proves one in %s", async (name) => {
    const opened = await openProver();
    const only = onlyChain(await prove(opened, [erc20("/a", tokenOf(name), AMOUNT)]));
    const spec: TokenCase = CASES[name];
    const position = spec.rule === "solady" ? "0x0" : numberToHex(spec.position);
    const bits = { [`${ALL_BITS}`]: "0-255", [`${TOP_BIT - 1n}`]: "0-254" }[`${spec.mask}`] ?? "0-127";
    expect(only.claims).toEqual([
      {
        ...{ path: "/a", kind: "erc20", account: tokenOf(name) },
        layout: { rule: spec.rule, position, bits },
        slot: SLOTS[spec.rule](spec.position),
      },
    ]);
    expect(await checkClaims(only)).toEqual(new Map([["/a", AMOUNT | (spec.flags ?? 0n)]]));
  });

  it("proves them all at once, also on a node without state overrides, and names what it cannot prove", async () => {
    for (const change of [undefined, withoutOverrides]) {
      const opened = await openProver(change);
      const fields = NAMES.map((name) => erc20(`/${name}`, tokenOf(name), AMOUNT));
      const others = { LIAR, REBASING, AMBIGUOUS, FAR };
      const more = Object.entries(others).map(([path, token]) =>
        erc20(path, token, token === REBASING ? 2n * AMOUNT : AMOUNT),
      );
      const only = onlyChain(await prove(opened, [...fields, ...more]));
      const reasons = only.claims.flatMap(({ path, reason }) =>
        reason === undefined ? [] : [[path, reason]],
      );
      const vyper = change === withoutOverrides ? [["/a mapping of Vyper", "no_layout"]] : [];
      expect(reasons).toEqual([
        ...vyper,
        ["LIAR", "no_layout"],
        ["REBASING", "rebasing"],
        ["AMBIGUOUS", "ambiguous_layout"],
        ["FAR", "no_layout"],
      ]);
      expect((await checkClaims(only)).size).toBe(NAMES.length - vyper.length);
    }
  });

  it("proves zero only by a layout that an amount above zero has shown", async () => {
    const opened = await openProver();
    const token = tokenOf("WETH9's third slot");
    const first = onlyChain(await prove(opened, [erc20("/zero", token, 0n)]));
    expect(first.claims).toEqual([{ path: "/zero", kind: "none", reason: "no_layout" }]);
    await prove(opened, [erc20("/a", token, AMOUNT)]);
    await chain.request("hardhat_setStorageAt", [token, SLOTS.solidity(3n), word(0n)]);
    await chain.request("hardhat_mine", ["0x1"]);
    const after = onlyChain(await prove(opened, [erc20("/zero", token, 0n)]));
    expect(after.claims).toMatchObject([{ kind: "erc20", layout: { position: "0x3" } }]);
    expect(await checkClaims(after)).toEqual(new Map([["/zero", 0n]]));
    await place(token, CASES["WETH9's third slot"], AMOUNT);
    await chain.request("hardhat_mine", ["0x1"]);
    const false_ = onlyChain(await prove(opened, [erc20("/zero", token, 0n)]));
    expect(false_.claims).toEqual([{ path: "/zero", kind: "none", reason: "mismatch" }]);
  });

  it("asks only once where a token keeps its amounts, and again when the token has other code", async () => {
    const opened = await openProver();
    const token = address(94);
    await place(token, whole("solidity", 2n), AMOUNT);
    await chain.request("hardhat_mine", ["0x1"]);
    const [node] = opened.nodes;
    const requests = async () => {
      const before = node?.requestCount() ?? 0;
      const only = onlyChain(await prove(opened, [erc20("/a", token, AMOUNT)]));
      return { position: only.claims[0]?.layout?.position, requests: (node?.requestCount() ?? 0) - before };
    };
    expect(await requests()).toEqual({ position: "0x2", requests: 3 });
    expect(await requests()).toEqual({ position: "0x2", requests: 1 });
    await chain.request("hardhat_setStorageAt", [token, SLOTS.solidity(2n), word(1n)]);
    await place(token, whole("solidity", 5n), AMOUNT);
    await chain.request("hardhat_mine", ["0x1"]);
    expect(await requests()).toEqual({ position: "0x5", requests: 3 });
    expect(await requests()).toEqual({ position: "0x5", requests: 1 });
  });
});

describe("a layout that was not found", () => {
  const other = address(301);
  const slotOf = (holder: Hex, position: bigint) =>
    keccak256(encodeAbiParameters([{ type: "address" }, { type: "uint256" }], [holder, position]));
  const reasonOf = async (opened: Opened, token: Hex, holder: Hex) => {
    const [claim] = onlyChain(await prove(opened, [erc20("/a", token, AMOUNT)], holder)).claims;
    return claim?.reason ?? claim?.kind;
  };

  it("is of one wallet, whose amount another word has by chance", async () => {
    await chain.request("hardhat_setStorageAt", [AMBIGUOUS, slotOf(other, 0n), word(AMOUNT)]);
    await chain.request("hardhat_mine", ["0x1"]);
    const opened = await openProver();
    const [node] = opened.nodes;
    expect(await reasonOf(opened, AMBIGUOUS, wallet)).toBe("ambiguous_layout");
    const before = node?.requestCount() ?? 0;
    expect(await reasonOf(opened, AMBIGUOUS, wallet)).toBe("ambiguous_layout");
    expect((node?.requestCount() ?? 0) - before).toBe(1);
    expect(await reasonOf(opened, AMBIGUOUS, other)).toBe("erc20");
    // A layout that the other wallet has shown holds for this one as well.
    expect(await reasonOf(opened, AMBIGUOUS, wallet)).toBe("erc20");
  });

  it("is of one wallet, for which a node has sent wrong words", async () => {
    const token = address(97);
    await place(token, whole("solidity", 3n), AMOUNT);
    await chain.request("hardhat_setStorageAt", [token, slotOf(other, 3n), word(AMOUNT)]);
    await chain.request("hardhat_mine", ["0x1"]);
    let isLying = true;
    const opened = await openProver((method, result, params) =>
      isLying && method === "eth_call" && params.length > 2
        ? `0x${"0".repeat((result as string).length - 2)}`
        : result,
    );
    expect(await reasonOf(opened, token, wallet)).toBe("no_layout");
    isLying = false;
    expect(await reasonOf(opened, token, other)).toBe("erc20");
    expect(await reasonOf(opened, token, wallet)).toBe("erc20");
  });
});

describe("the account", () => {
  it("has its native balance and its code proven, and nothing that the state does not say", async () => {
    const opened = await openProver();
    const balance = BigInt((await chain.request("eth_getBalance", [wallet, "latest"])) as Hex);
    const kind = (path: string, accountKind: string | null): ProvableField => ({
      ...{ path, kind: "code", accountKind, delegate: null },
    });
    const only = onlyChain(
      await prove(opened, [
        { path: "/native", kind: "native", value: balance },
        { path: "/more", kind: "native", value: balance + 1n },
        kind("/eoa", "eoa"),
        kind("/safe", "safe"),
        kind("/null", null),
      ]),
    );
    expect(only.claims).toEqual([
      { path: "/native", kind: "native", account: wallet },
      { path: "/more", kind: "none", reason: "mismatch" },
      { path: "/eoa", kind: "code", account: wallet, code: null },
      { path: "/safe", kind: "none", reason: "mismatch" },
      { path: "/null", kind: "none", reason: "unknown" },
    ]);
    expect((await checkClaims(only)).get("/native")).toBe(balance);
  });

  it("has the nonce that its proof shows, and none if no claim of it fits", async () => {
    const { prover, access } = await openProver();
    const { number, hash } = await readBlock();
    const fields = [{ path: "/accounts/0/nonce", kind: "nonce" as const }];
    const chains = [{ slug: access.chain.slug, block: { number: Number(number), hash }, fields }];
    const options = { isPast: false, budgetMs: 30_000 };
    const small = new ResponseProver(new Map([[access.chain.slug, access]]), systemClock, 100);
    const provable = { wallet, chains, values: [] };
    const { proofs, nonces } = await prover.prove(provable, options, signal);
    const sent = BigInt((await chain.request("eth_getTransactionCount", [wallet, "latest"])) as Hex);
    expect(nonces).toEqual(new Map([["/accounts/0/nonce", `${sent}`]]));
    expect(onlyChain(proofs).claims).toEqual([{ path: "/accounts/0/nonce", kind: "nonce", account: wallet }]);
    const cut = await small.prove(provable, options, signal);
    expect(cut.nonces).toEqual(new Map());
    expect(onlyChain(cut.proofs).claims).toMatchObject([{ kind: "none", reason: "too_many" }]);
  });
});

describe("allowances", () => {
  it("proves one above zero, and that another spender has none", async () => {
    const [spender, other] = [address(200), address(201)];
    const data = encodeFunctionData({ abi: plainTokenAbi, functionName: "approve", args: [spender, 77n] });
    const args = ["Plain", "PLAIN", 18] as const;
    const code = encodeDeployData({ abi: plainTokenAbi, bytecode: plainTokenBytecode, args });
    const send = async (transaction: object) => {
      const hash = await chain.request("eth_sendTransaction", [
        { from: wallet, gas: "0x2dc6c0", ...transaction },
      ]);
      return (await chain.request("eth_getTransactionReceipt", [hash])) as { readonly contractAddress: Hex };
    };
    const { contractAddress: token } = await send({ data: code });
    await send({ to: token, data });
    const opened = await openProver();
    const field = (path: string, to: Hex, value: bigint): ProvableField => ({
      ...{ path, kind: "allowance", token, spender: to, value },
    });
    const only = onlyChain(await prove(opened, [field("/live", spender, 77n), field("/none", other, 0n)]));
    expect(only.claims.map(({ layout }) => layout?.position)).toEqual(["0x1", "0x1"]);
    expect(await checkClaims(only)).toEqual(
      new Map([
        ["/live", 77n],
        ["/none", 0n],
      ]),
    );
  });

  it("proves one without a limit by the slot that a smaller one has shown, also at the position of balances in USDC", async () => {
    const [token, small, unlimited] = [address(95), address(202), address(203)];
    const ofOwner = SLOTS.solidity(9n);
    const slotOf = (spender: Hex) =>
      keccak256(encodeAbiParameters([{ type: "address" }, { type: "bytes32" }], [spender, ofOwner]));
    await chain.request("hardhat_setCode", [token, returningCode(0n)]);
    await chain.request("hardhat_setStorageAt", [token, slotOf(small), word(5n)]);
    await chain.request("hardhat_setStorageAt", [token, slotOf(unlimited), word(ALL_BITS)]);
    await chain.request("hardhat_mine", ["0x1"]);
    const field = (path: string, spender: Hex, value: bigint): ProvableField => ({
      ...{ path, kind: "allowance", token, spender, value },
    });
    const fields = [field("/small", small, 5n), field("/unlimited", unlimited, ALL_BITS)];
    const only = onlyChain(await prove(await openProver(), fields));
    expect(only.claims.map(({ layout }) => layout?.bits)).toEqual(["0-255", "0-255"]);
    expect([...(await checkClaims(only)).values()]).toEqual([5n, ALL_BITS]);
  });
});

describe("an allowance of zero, where no other shows the layout", () => {
  const [token, proxied, odd] = [address(96), address(97), address(98)];
  const none = (of: Hex): ProvableField => ({
    ...{ path: "/none", kind: "allowance", token: of, spender: address(204), value: 0n },
  });
  beforeAll(async () => {
    const hashed = "6040600020";
    const code: Hex = `0x6004356000526007602052${hashed}602052602435600052${hashed}5460005260206000f3`;
    await chain.request("hardhat_setCode", [token, code]);
    const delegating = concat(["0x365f5f375f5f365f73", token, "0x5af43d5f5f3e3d5ff3"]);
    await chain.request("hardhat_setCode", [proxied, delegating]);
    // Has no allowances at all.
    await chain.request("hardhat_setCode", [odd, returningCode(0n)]);
    await chain.request("hardhat_mine", ["0x1"]);
  });

  it("is proven by the slot that the token reads when it is executed", async () => {
    for (const of of [token, proxied]) {
      const only = onlyChain(await prove(await openProver(), [none(of)]));
      expect(only.claims).toMatchObject([
        { kind: "allowance", layout: { rule: "solidity", position: "0x7", bits: "0-255" } },
      ]);
      expect(await checkClaims(only)).toEqual(new Map([["/none", 0n]]));
    }
  });

  it("says so when the token reads none of the slots, or the node changes no state", async () => {
    const reasons = [
      onlyChain(await prove(await openProver(), [none(odd)])),
      onlyChain(await prove(await openProver(withoutOverrides), [none(token)])),
    ].map(({ claims }) => claims.map(({ reason }) => reason));
    expect(reasons).toEqual([["no_layout"], ["no_layout"]]);
  });

  it("takes no layout that a lying node has named for a later request", async () => {
    const marked = word(0x73657874616e74n * 65_536n + 1n);
    let isLying = true;
    const opened = await openProver((method, result, params) =>
      isLying && method === "eth_call" && params.length > 2 ? marked : result,
    );
    const positions: unknown[] = [];
    for (const _ of ["lie", "truth"]) {
      const [claim] = onlyChain(await prove(opened, [none(token)])).claims;
      positions.push(claim?.layout?.position);
      isLying = false;
    }
    expect(positions).toEqual(["0x0", "0x7"]);
  });
});

describe("the owner of an NFT", () => {
  const owned = (token: Hex, owner: Hex): ProvableField => ({
    ...{ path: "/nft", kind: "owner", token, tokenId: 7n, value: BigInt(owner) },
  });
  const NAMESPACED = 0x80bb2b638cc20bc4d0a60d66940f3ab4a00c1d7b313497ca82fb0b4ab0079302n;

  it.each([
    ["OpenZeppelin 4", 2n, 0n, "0-255"],
    ["OpenZeppelin 4 upgradeable", 103n, 0n, "0-255"],
    ["OpenZeppelin 5 upgradeable", NAMESPACED, 0n, "0-255"],
    ["an owner packed with a time", 4n, 1_790_000_000n << 160n, "0-159"],
  ])("is proven in %s", async (_, position, flags, bits) => {
    const collection = address(300 + Number(position % 1_000n));
    const key = [7n, position] as const;
    const slot = keccak256(encodeAbiParameters([{ type: "uint256" }, { type: "uint256" }], key));
    await chain.request("hardhat_setCode", [collection, returningCode(BigInt(wallet))]);
    await chain.request("hardhat_setStorageAt", [collection, slot, word(BigInt(wallet) | flags)]);
    await chain.request("hardhat_mine", ["0x1"]);
    const opened = await openProver();
    const only = onlyChain(await prove(opened, [owned(collection, wallet)]));
    const layout = { rule: "solidity", position: numberToHex(position), bits };
    expect(only.claims).toEqual([{ path: "/nft", kind: "owner", account: collection, layout, slot }]);
    expect((await checkClaims(only)).get("/nft")).toBe(BigInt(wallet) | flags);
    const other = onlyChain(await prove(opened, [owned(collection, address(5))]));
    expect(other.claims).toMatchObject([
      { kind: "none", reason: expect.stringMatching(/no_layout|rebasing/) },
    ]);
  });
});

describe("nodes", () => {
  const fields = () => [erc20("/a", tokenOf("a plain mapping"), AMOUNT)];
  const reject = rejectMethod("eth_getProof");

  it("says so when none offers eth_getProof, and uses another one that does", async () => {
    expect(onlyChain(await prove(await openProver(reject), fields()))).toEqual({
      ...{ chain: expect.any(String), chainId: expect.stringMatching(/^eip155:/), block: null, header: null },
      ...{ reason: "no_proofs", nodes: [], claims: [{ path: "/a", kind: "none", reason: "no_proofs" }] },
    });
    const only = onlyChain(await prove(await openProver(reject, undefined), fields()));
    expect((await checkClaims(only)).get("/a")).toBe(AMOUNT);
  });

  it("asks one that does not offer it only once in ten minutes", async () => {
    const { nodes, access } = await openProver(reject);
    let laterMs = 0;
    const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + laterMs };
    const prover = new ResponseProver(new Map([[access.chain.slug, access]]), clock);
    const counts: (number | undefined)[] = [];
    for (const ms of [0, 0, 599_000, 601_000]) {
      laterMs = ms;
      const { reason } = onlyChain(await prove({ nodes, access, prover }, fields()));
      expect(reason).toBe("no_proofs");
      counts.push(nodes[0]?.requestCount());
    }
    const [first = 0] = counts;
    expect(counts).toEqual([first, first, first, first + 1]);
  });

  type Proof = {
    readonly accountProof: readonly Hex[];
    readonly storageProof: readonly { proof: readonly Hex[] }[];
  };
  const changeProof =
    (change: (proof: Proof) => unknown): ChangeResult =>
    (method, result) =>
      method === "eth_getProof" ? change(result as Proof) : result;
  const flipLast = (nodes: readonly Hex[]) =>
    nodes.map((node, i) => (i < nodes.length - 1 ? node : flipDigit(node, 12)));
  const LIES: Readonly<Record<string, readonly [ChangeResult, reason: string]>> = {
    "a changed account": [
      changeProof((proof) => ({ ...proof, accountProof: flipLast(proof.accountProof) })),
      "node_refused",
    ],
    "a proof without its root": [
      changeProof((proof) => ({ ...proof, accountProof: proof.accountProof.slice(1) })),
      "node_refused",
    ],
    "no object": [changeProof(() => "0x"), "node_refused"],
    "changed storage": [
      changeProof((proof) => ({
        ...proof,
        storageProof: proof.storageProof.map((one) => ({ ...one, proof: flipLast(one.proof) })),
      })),
      "node_refused",
    ],
    "another state root": [
      (method, result) =>
        method === "eth_getBlockByHash" ? { ...(result as object), stateRoot: word(7n) } : result,
      "header",
    ],
    "another balance": [
      (method, result) =>
        method === "eth_getBlockByHash" ? { ...(result as object), gasUsed: "0x1" } : result,
      "header",
    ],
  };

  it.each(Object.keys(LIES))("sells no proof of a node that politely sends %s", async (name) => {
    const [lie, reason] = LIES[name] ?? [];
    const only = onlyChain(await prove(await openProver(lie), fields()));
    expect(only).toMatchObject({ nodes: [], claims: [{ path: "/a", kind: "none", reason }] });
    if (only.header !== null) return;
    const honest = onlyChain(await prove(await openProver(lie, undefined), fields()));
    expect((await checkClaims(honest)).get("/a")).toBe(AMOUNT);
  });

  it("takes no block that a node has made up in one piece, for responses that show only its number", async () => {
    const { number, hash } = await readBlock();
    const [honest] = (await prove(await openProver(), fields())).chains;
    const items = fromRlp(honest?.header ?? "0x", "hex") as Hex[];
    const gasUsed = "0x1234";
    const otherHash = keccak256(toRlp(items.map((item, index) => (index === 10 ? gasUsed : item))));
    const lie: ChangeResult = (method, result) =>
      method.startsWith("eth_getBlockBy") ? { ...(result as object), gasUsed, hash: otherHash } : result;
    const exposureOf = (chainPart: object) =>
      describeProvableExposure({
        address: wallet,
        summary: { chains: [chainPart] },
        permissions: [],
      } as unknown as Exposure);
    const reasonsOf = async (opened: Opened) => {
      const part = { chain: opened.access.chain.slug, blockNumber: Number(number) };
      const unknown = exposureOf({ ...part });
      const known = exposureOf(withBlockHash({ ...part }, hash));
      const options = { isPast: false, budgetMs: 30_000 };
      const proofs = [unknown, known].map(
        async (each) => (await opened.prover.prove(each, options, signal)).proofs,
      );
      return (await Promise.all(proofs)).map(({ chains: [one] }) => [one?.reason, one?.block?.hash ?? null]);
    };
    const liars = await reasonsOf(await openProver(lie));
    expect(liars).toEqual([
      ["block", null],
      ["block", null],
    ]);
    expect((await reasonsOf(await openProver(lie, undefined)))[1]).toEqual([null, hash]);
  });

  it("ignores nodes that no claim needs, and says nothing of a block that it does not have", async () => {
    const surplus = changeProof((proof) => ({
      ...proof,
      accountProof: [...proof.accountProof, "0xc0", ...proof.accountProof, "0xzz", 5],
    }));
    const only = onlyChain(await prove(await openProver(surplus), fields()));
    expect((await checkClaims(only)).get("/a")).toBe(AMOUNT);
    const { prover, access } = await openProver();
    const block = { number: 10_000, hash: word(5n) };
    const provable = { wallet, chains: [{ slug: access.chain.slug, block, fields: fields() }], values: [] };
    const { proofs } = await prover.prove(
      provable,
      { isPast: false, budgetMs: 30_000 },
      new AbortController().signal,
    );
    expect(proofs.chains).toMatchObject([{ header: null, reason: "block" }]);
  });

  it("keeps what is proven when the second look at a difference does not end, within one time for both", async () => {
    const opened = await openProver();
    const token = address(96);
    await place(token, whole("solidity", 6n), AMOUNT);
    await chain.request("hardhat_mine", ["0x1"]);
    const { number, hash } = await readBlock();
    const block = { number: Number(number), hash };
    const { access } = opened;
    const tryNodes: NonNullable<typeof access.tryNodes> = async (at, work, stop) => {
      calls += 1;
      if (calls > 2) return new Promise<null>(() => undefined);
      // The side with zero first, so that it is looked at again.
      if (calls === 2) await new Promise((resolve) => setTimeout(resolve, 400));
      return access.tryNodes?.(at, work, stop) ?? null;
    };
    let calls = 0;
    const balance = BigInt((await chain.request("eth_getBalance", [wallet, "latest"])) as Hex);
    const native: ProvableField = { path: "/native", kind: "native", value: balance };
    const slug = access.chain.slug;
    const sides = [
      { slug, side: "from" as const, block, fields: [erc20("/zero", token, 0n), native] },
      { slug, side: "to" as const, block, fields: [erc20("/a", token, AMOUNT)] },
    ];
    const prover = new ResponseProver(new Map([[slug, { ...access, tryNodes }]]), systemClock);
    const startMs = systemClock.nowMs();
    const provable = { wallet, chains: sides, values: [] };
    const { proofs } = await prover.prove(provable, { isPast: false, budgetMs: 1_500 }, signal);
    const { chains } = proofs;
    expect(calls).toBe(3);
    expect(systemClock.nowMs() - startMs).toBeLessThan(1_500 + 300);
    expect(chains.map(({ claims }) => claims.map(({ kind }) => kind))).toEqual([
      ["none", "native"],
      ["erc20"],
    ]);
  });

  it("ends with its time when they do not respond", async () => {
    const { prover, access } = await openProver();
    const hanging = { ...access, tryNodes: () => new Promise<null>(() => undefined) };
    const late = new ResponseProver(new Map([[access.chain.slug, hanging]]), systemClock);
    const block = { number: 1, hash: word(5n) };
    const provable = { wallet, chains: [{ slug: access.chain.slug, block, fields: fields() }], values: [] };
    const { proofs } = await late.prove(provable, { isPast: false, budgetMs: 20 }, signal);
    expect(proofs.chains).toMatchObject([{ reason: "late", claims: [{ kind: "none", reason: "late" }] }]);
    expect(prover).toBeDefined();
  });
});

describe("the size", () => {
  /** The chain under several names. */
  async function proveOften(names: readonly string[], fields: readonly ProvableField[], charsMax?: number) {
    const { access } = await openProver();
    const prover = new ResponseProver(new Map(names.map((name) => [name, access])), systemClock, charsMax);
    const { number, hash } = await readBlock();
    const block = { number: Number(number), hash };
    const chains = names.map((slug) => ({ slug, block, fields }));
    const provable = { wallet: HEAVY, chains, values: [] };
    return (await prover.prove(provable, { isPast: false, budgetMs: 30_000 }, signal)).proofs;
  }
  const HEAVY = address(300);
  const kindOf = ({ claims }: ProofChain) => claims.map(({ kind, reason }) => reason ?? kind);

  it("is that of each node once", async () => {
    const opened = await openProver();
    const field = erc20("/a", tokenOf("Solady"), AMOUNT);
    const [once, twice] = [
      onlyChain(await prove(opened, [field])),
      onlyChain(await prove(opened, [field, { ...field, path: "/b" }])),
    ];
    expect(twice.nodes).toEqual(once.nodes);
    expect(Math.max(...twice.nodes.map(size))).toBeLessThan(533);
  });

  it("stays far below what can be sold, also over many chains", async () => {
    await chain.request("hardhat_setCode", [HEAVY, `0x${"5b".repeat(800_000)}`]);
    await chain.request("hardhat_mine", ["0x1"]);
    const code: ProvableField = { path: "/kind", kind: "code", accountKind: "contract", delegate: null };
    const proofs = await proveOften(["a", "b", "c", "d", "e", "f"], [code]);
    expect(JSON.stringify(proofs).length).toBeLessThan(4.1 * 1024 * 1024);
    expect(proofs.chains.flatMap(kindOf)).toEqual([
      ...["code", "code"],
      ...Array<string>(4).fill("too_many"),
    ]);
  });

  it("leaves out what matters least on each chain", async () => {
    const native = (path: string): ProvableField => ({ path, kind: "native", value: 0n });
    const fields = [native("/a"), native("/b"), native("/c"), native("/d")];
    const all = await proveOften(["a", "b"], fields);
    expect(all.chains.flatMap(kindOf)).toEqual(Array<string>(8).fill("native"));
    // Room for half of the claims.
    const texts = all.chains.flatMap(({ header, nodes }) => [header ?? "", ...nodes]);
    const claims = all.chains.flatMap((one) => one.claims.map((claim) => JSON.stringify(claim)));
    const sum = (lengths: readonly number[]) => lengths.reduce((total, each) => total + each, 0);
    const charsMax =
      sum(texts.map((text) => text.length + 3)) + sum(claims.slice(0, 4).map((text) => text.length)) + 10;
    const some = await proveOften(["a", "b"], fields, charsMax);
    expect(some.chains.map(kindOf)).toEqual(
      Array<string[]>(2).fill(["native", "native", "too_many", "too_many"]),
    );
    for (const one of some.chains) expect(readProvenNumbers(one).get("/b")).toBe(0n);
  });
});
