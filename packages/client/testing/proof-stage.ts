// A chain with tokens of every layout, and responses about a wallet on it with real proofs of eth_getProof.
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import {
  concat,
  encodeAbiParameters,
  encodePacked,
  formatUnits,
  type Hex,
  keccak256,
  numberToHex,
  pad,
  toRlp,
} from "viem";

export const USDC: Hex = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48";
const PERMIT2: Hex = "0x000000000022d473030f116ddee9f6b43ac78ba3";
export const SPENDER: Hex = `0x${"5e".repeat(20)}`;
/** No one has allowed it anything. */
export const UNAPPROVED: Hex = `0x${"0a".repeat(20)}`;

export type StageLayout = { readonly rule: string; readonly position: Hex; readonly bits: string };
export type StageToken = {
  readonly contract: Hex;
  readonly symbol: string;
  /** Null for a token without a proof. */
  readonly layout: StageLayout | null;
  readonly allowance: StageLayout | null;
  readonly amount: bigint;
};

const full = (rule: string, position: Hex, bits = "0-255"): StageLayout => ({ rule, position, bits });
const numbered = (index: number): Hex => pad(numberToHex(index + 0xa0), { size: 20 });
const NAMESPACE: Hex = "0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00";

export const TOKENS: readonly StageToken[] = [
  {
    ...{ contract: USDC, symbol: "USDC", amount: 1_250_250_000n },
    ...{ layout: full("solidity", "0x9", "0-254"), allowance: full("solidity", "0xa") },
  },
  {
    ...{ contract: numbered(1), symbol: "SOL", amount: 7_000_000n },
    ...{ layout: full("solidity", "0x3"), allowance: full("solidity", "0x4") },
  },
  {
    ...{ contract: numbered(2), symbol: "VYP", amount: 2_500_000n },
    ...{ layout: full("vyper", "0x5"), allowance: full("vyper", "0x6") },
  },
  {
    ...{ contract: numbered(3), symbol: "SDY", amount: 9n },
    ...{ layout: full("solady", "0x0"), allowance: full("solady", "0x0") },
  },
  {
    ...{ contract: numbered(4), symbol: "NSP", amount: 123_456_789n },
    ...{ layout: full("erc7201", NAMESPACE), allowance: null },
  },
  // Nothing of it is held: the proof is one of absence.
  {
    ...{ contract: numbered(5), symbol: "NIL", amount: 0n },
    ...{ layout: full("solidity", "0x0"), allowance: full("solidity", "0x1") },
  },
  { contract: numbered(6), symbol: "REB", amount: 5_000_000n, layout: null, allowance: null },
];

/** A collection that keeps owners like OpenZeppelin 4, and the NFT of the wallet. */
const COLLECTION = numbered(8);
const OWNERS = full("solidity", "0x2");
const TOKEN_ID: Hex = numberToHex(7, { size: 20 });
const ALLOWED = 400_000n;
const PERMITTED = { token: USDC, amount: 77n, expiration: 4_000_000_000n, nonce: 3n };
const SLUG = "ethereum";

export type Json = Record<string, unknown>;
export type StageOwners = { readonly layout: StageLayout; readonly tokenId: Hex };
export type ProofStage = {
  readonly chain: LocalChain;
  readonly wallet: Hex;
  readonly tokens: readonly StageToken[];
  /** Gives the wallet other amounts of the tokens, as of a new block. */
  hold(amounts: readonly bigint[]): Promise<void>;
  snapshot(tokens?: readonly StageToken[]): Promise<Json>;
  /** `owners`: where the proof says that the collection keeps owners, and which NFT the wallet is said to own. */
  exposure(owners?: StageOwners): Promise<Json>;
  /** From the block before the newest to the newest. */
  diff(): Promise<Json>;
};

/** The responses as a service would send them; each call makes a new one. */
export async function startProofStage(chainId = 1): Promise<ProofStage> {
  // EDR keeps each snapshot with all words that were written until then: a thousand blocks would take 20 GB.
  const chain = await startLocalChain({ chainId, genesisTimestamp: 1_790_000_000n, reorgDepthMax: 0 });
  const wallet = chain.accounts.payer.address.toLowerCase() as Hex;
  const write = (account: Hex, slot: Hex, word: Hex) =>
    chain.request("hardhat_setStorageAt", [account, slot, word]);
  for (const { contract, layout, allowance, amount } of TOKENS) {
    await chain.setCode(contract, codeOf(layout, allowance));
    // A neighbour, so that the storage trie has more than one leaf.
    for (const slot of [0x70, 0x71, 0x72]) await write(contract, word(slot), word(slot));
    if (layout !== null && amount > 0n) await write(contract, slotOf(layout, [wallet]), word(amount));
    if (allowance !== null && amount > 0n)
      await write(contract, slotOf(allowance, [wallet, SPENDER]), word(ALLOWED));
  }
  await chain.setCode(COLLECTION, codeOf(OWNERS, null));
  await write(COLLECTION, slotOf(OWNERS, [TOKEN_ID]), pad(wallet, { size: 32 }));
  await write(COLLECTION, word(0x70), word(1));
  await chain.setCode(PERMIT2, "0x00");
  const { token, amount, expiration, nonce } = PERMITTED;
  const packed = encodePacked(["uint48", "uint48", "uint160"], [Number(nonce), Number(expiration), amount]);
  await write(PERMIT2, slotOf(full("solidity", "0x1"), [wallet, token, SPENDER]), packed);
  await chain.mine(2);
  let tokens = TOKENS;
  const prove = (report: Json, listed = tokens) => new TestProver(chain, wallet, listed).prove(report);
  return {
    chain,
    wallet,
    get tokens() {
      return tokens;
    },
    async hold(amounts) {
      tokens = TOKENS.map((token, index) => ({ ...token, amount: amounts[index] ?? token.amount }));
      for (const { contract, layout, amount } of tokens) {
        if (layout !== null) await write(contract, slotOf(layout, [wallet]), word(amount));
      }
      await chain.mine(1);
    },
    snapshot: (listed = tokens) => prove(makeSnapshot(wallet, chainId, listed), listed),
    exposure: (owners = { layout: OWNERS, tokenId: TOKEN_ID }) =>
      new TestProver(chain, wallet, tokens, owners).prove(
        makeExposure(wallet, chainId, tokens, BigInt(owners.tokenId)),
      ),
    diff: () => prove(makeDiff(wallet, tokens)),
  };
}

const word = (value: bigint | number): Hex => numberToHex(value, { size: 32 });

/** Written down again from the rules of the compilers, not taken from the code under test. */
export function slotOf({ rule, position }: StageLayout, keys: readonly Hex[]): Hex {
  const [owner = "0x", ...others] = keys;
  if (rule === "solady") {
    const seed: Hex = others.length === 0 ? "0x87a211a2" : "0x7f5e9f20";
    return keccak256(concat([owner, "0x0000000000000000", seed, ...others]));
  }
  const [first, second] =
    rule === "vyper" ? (["bytes32", "address"] as const) : (["address", "bytes32"] as const);
  return keys.reduce(
    (slot, key) => {
      const pair = rule === "vyper" ? [slot, key] : [key, slot];
      return keccak256(encodeAbiParameters([{ type: first }, { type: second }], pair as [Hex, Hex]));
    },
    pad(position, { size: 32 }),
  );
}

const OWNER = "600435";
const SECOND = "602435";
const RETURN = "60005260206000f3";
const push = (position: Hex) =>
  position.length > 10 ? `7f${position.slice(2)}` : `60${pad(position, { size: 1 }).slice(2)}`;

/** A contract with two calls, distinguished by the length of their data: balanceOf and allowance. */
function codeOf(balance: StageLayout | null, allowance: StageLayout | null): Hex {
  if (balance === null) return "0x00";
  const mask = balance.bits === "0-255" ? "" : "60011b60011c";
  const first = `${loadBalance(balance)}${mask}${RETURN}`;
  const second = `${allowance === null ? "6000" : loadAllowance(allowance)}${RETURN}`;
  const jump = numberToHex(7 + second.length / 2, { size: 1 }).slice(2);
  return `0x3660241460${jump}57${second}5b${first}`;
}

function loadBalance({ rule, position }: StageLayout): string {
  if (rule === "solady") return `6387a211a2600c52${OWNER}6000526020600c2054`;
  const [key, base] = rule === "vyper" ? ["20", "00"] : ["00", "20"];
  return `${OWNER}60${key}52${push(position)}60${base}52604060002054`;
}

function loadAllowance({ rule, position }: StageLayout): string {
  if (rule === "solady") return `${SECOND}602052637f5e9f20600c52${OWNER}6000526034600c2054`;
  const [key, base] = rule === "vyper" ? ["20", "00"] : ["00", "20"];
  const outer = `${OWNER}60${key}52${push(position)}60${base}526040600020`;
  return `${outer}60${base}52${SECOND}60${key}52604060002054`;
}

function makeSnapshot(address: Hex, chainId: number, listed: readonly StageToken[]): Json {
  const identity = { chain: SLUG, chainId: `eip155:${chainId}` };
  const tokens = listed.map(({ contract, symbol, amount }) => ({
    ...{ ...identity, contract, symbol, name: symbol, decimals: 6, logo: null },
    ...{ rawBalance: amount.toString(), balance: formatUnits(amount, 6), priceUsd: "1" },
    ...{ valueUsd: formatUnits(amount, 6), spam: false, priceSource: "test", priceContract: null },
  }));
  return {
    ...{ address, timestamp: "2026-11-19T12:00:00.000Z", chains: [SLUG], tokens },
    positions: [
      { ...identity, protocol: "vault", kind: "supplied", name: "Vault", assets: [], valueUsd: "10.5" },
    ],
    accounts: [{ ...identity, kind: "eoa", delegate: null, nonce: null }],
    gas: [{ ...identity, symbol: "ETH" }],
    blocks: [{ chain: SLUG }],
  };
}

function makeExposure(address: Hex, chainId: number, listed: readonly StageToken[], nft: bigint): Json {
  const common = {
    chain: SLUG,
    chainId: `eip155:${chainId}`,
    spender: SPENDER,
    decimals: 6,
    expiresAt: null,
  };
  const permissions = listed
    .filter(({ allowance }) => allowance !== null)
    .map(({ contract, symbol, amount }) => {
      // The last token was never approved, whatever the wallet holds of it later.
      const allowed = symbol === "NIL" ? 0n : ALLOWED;
      const least = allowed < amount ? allowed : amount;
      return {
        ...{
          ...common,
          kind: "erc20-allowance",
          contract,
          symbol,
          via: null,
          valueAtRiskUsd: formatUnits(least, 6),
        },
        ...{ rawAllowance: allowed.toString(), allowance: formatUnits(allowed, 6) },
        ...{ rawBalance: amount.toString(), balance: formatUnits(amount, 6) },
      };
    });
  const permitted = {
    ...{
      ...common,
      kind: "permit2-allowance",
      contract: USDC,
      symbol: "USDC",
      via: PERMIT2,
      valueAtRiskUsd: "0.000077",
    },
    ...{ rawAllowance: PERMITTED.amount.toString(), allowance: formatUnits(PERMITTED.amount, 6) },
    ...{
      rawBalance: null,
      balance: null,
      expiresAt: new Date(Number(PERMITTED.expiration) * 1000).toISOString(),
    },
  };
  const delegate = {
    ...{
      ...common,
      kind: "delegate",
      contract: address,
      symbol: null,
      via: null,
      decimals: null,
      valueAtRiskUsd: null,
    },
    ...{ rawAllowance: null, allowance: null, rawBalance: null, balance: null },
  };
  const approval = { ...delegate, kind: "nft-approval", contract: COLLECTION, tokenId: nft.toString() };
  const summary = { chains: [{ chain: SLUG, blockNumber: 0 }] };
  const allowances = makeAllowances(chainId, listed, permitted);
  return {
    ...{ address, chains: [SLUG], summary, allowances },
    permissions: [...permissions, permitted, delegate, approval],
  };
}

type Permitted = { readonly rawAllowance: string; readonly expiresAt: string };

/** The allowances of both spenders, of which one was never approved, of each token directly and in Permit2. */
function makeAllowances(
  chainId: number,
  listed: readonly StageToken[],
  { rawAllowance, expiresAt }: Permitted,
): readonly Json[] {
  const identity = { chain: SLUG, chainId: `eip155:${chainId}` };
  const tokens = listed.filter(({ allowance }) => allowance !== null);
  const allowances = tokens.flatMap(({ contract, symbol }) => {
    const allowed = symbol === "NIL" ? 0n : ALLOWED;
    const pair = { ...identity, kind: "erc20-allowance", contract, expiresAt: null };
    return [
      { ...pair, spender: SPENDER, rawAllowance: allowed.toString() },
      { ...pair, spender: UNAPPROVED, rawAllowance: "0" },
    ];
  });
  const inPermit2 = { ...identity, kind: "permit2-allowance", rawAllowance: "0", expiresAt: null };
  const others = tokens.filter(({ contract }) => contract !== USDC);
  return [
    ...allowances,
    { ...inPermit2, contract: USDC, spender: SPENDER, rawAllowance, expiresAt },
    { ...inPermit2, contract: USDC, spender: UNAPPROVED },
    ...[SPENDER, UNAPPROVED].flatMap((spender) =>
      others.map(({ contract }) => ({ ...inPermit2, contract, spender })),
    ),
  ];
}

function makeDiff(address: Hex, listed: readonly StageToken[]): Json {
  const tokens = listed.slice(0, 3).map(({ contract, symbol, amount }) => {
    const figures = {
      symbol,
      decimals: 6,
      rawBalance: amount.toString(),
      priceUsd: "1",
      valueUsd: formatUnits(amount, 6),
    };
    return { chain: SLUG, contract, before: figures, after: figures };
  });
  const absent = { chain: SLUG, contract: numbered(5), before: null, after: null };
  const side = {
    timestamp: "2026-11-19T12:00:00.000Z",
    snapshotId: null,
    blocks: [{ chain: SLUG }],
    warnings: [],
  };
  const total = { beforeUsd: null, afterUsd: null };
  return {
    ...{ address, from: { ...side }, to: structuredClone(side), total, chains: [{ chain: SLUG }] },
    ...{ tokens: [...tokens, absent], positions: [] },
  };
}

type RpcProof = {
  readonly balance: Hex;
  readonly accountProof: readonly Hex[];
  readonly storageProof: readonly { readonly value: Hex; readonly proof: readonly Hex[] }[];
};

/** Fills in what comes from the chain, and adds the proofs. Shares no code with the verifier. */
class TestProver {
  readonly #tokens: readonly StageToken[];
  readonly #chain: LocalChain;
  readonly #wallet: Hex;
  readonly #owners: StageOwners | undefined;

  constructor(chain: LocalChain, wallet: Hex, tokens: readonly StageToken[], owners?: StageOwners) {
    this.#owners = owners;
    this.#tokens = tokens;
    this.#chain = chain;
    this.#wallet = wallet;
  }

  async prove(report: Json): Promise<Json> {
    const newest = BigInt((await this.#chain.request("eth_blockNumber")) as Hex);
    const sides = "total" in report ? (["from", "to"] as const) : [null];
    const chains: Json[] = [];
    for (const side of sides) {
      const number = side === "from" ? newest - 1n : newest;
      chains.push(await this.#proveChain(report, side, number));
    }
    return { ...report, proofs: { version: 1, chains, coverage: coverageOf(report, chains) } };
  }

  async #proveChain(report: Json, side: "from" | "to" | null, number: bigint): Promise<Json> {
    const block = (await this.#chain.request("eth_getBlockByNumber", [numberToHex(number), false])) as Record<
      string,
      Hex
    >;
    stateBlock(report, side, number, block.hash ?? "0x");
    const nodes = new Set<Hex>();
    const claims: Json[] = [];
    for (const wanted of await this.#listWanted(report, side, number)) {
      claims.push(await this.#proveValue(wanted, number, nodes));
    }
    const identity = {
      chain: SLUG,
      chainId: `eip155:${this.#chain.chainId}`,
      ...(side === null ? {} : { side }),
    };
    return {
      ...identity,
      block: {
        number: number.toString(),
        hash: block.hash,
        timestamp: new Date(Number(block.timestamp) * 1000).toISOString(),
      },
      ...{ header: encodeHeader(block), reason: null, nodes: [...nodes], claims },
    };
  }

  async #listWanted(report: Json, side: "from" | "to" | null, number: bigint): Promise<readonly Wanted[]> {
    const list = (name: string) => (report[name] ?? []) as Record<string, never>[];
    const tokenOf = (contract: Hex) => this.#tokens.find((token) => token.contract === contract);
    if (side !== null) {
      return list("tokens").map((token, index) => {
        const name = side === "from" ? "before" : "after";
        const path =
          token[name] === null ? `/tokens/${index}/${name}` : `/tokens/${index}/${name}/rawBalance`;
        return {
          path,
          kind: "erc20",
          account: token.contract ?? "0x",
          layout: tokenOf(token.contract ?? "0x")?.layout,
        };
      });
    }
    for (const gas of list("gas") as Json[]) {
      const balance = BigInt(
        (await this.#chain.request("eth_getBalance", [this.#wallet, numberToHex(number)])) as Hex,
      );
      Object.assign(gas, { rawBalance: balance.toString(), balance: formatUnits(balance, 18) });
    }
    const tokens = list("tokens").map(({ contract }, index) => ({
      ...{ path: `/tokens/${index}/rawBalance`, kind: "erc20", account: (contract ?? "0x") as Hex },
      layout: tokenOf(contract ?? "0x")?.layout,
    }));
    const gas = list("gas").map((_, index) => ({
      path: `/gas/${index}/rawBalance`,
      kind: "native",
      account: this.#wallet,
    }));
    for (const account of list("accounts") as Json[]) {
      const at = [this.#wallet, numberToHex(number)];
      account.nonce = BigInt((await this.#chain.request("eth_getTransactionCount", at)) as Hex).toString();
    }
    const kinds = list("accounts").flatMap((_, index) => [
      { path: `/accounts/${index}/kind`, kind: "code", account: this.#wallet },
      { path: `/accounts/${index}/nonce`, kind: "nonce", account: this.#wallet },
    ]);
    return [
      ...[
        ...tokens,
        ...gas,
        ...kinds,
        ...list("permissions").flatMap((each, index) => wantPermission(each, index, this.#owners)),
      ],
      ...list("allowances").map(wantAllowance),
    ];
  }

  async #proveValue(
    { path, kind, account, layout, holder = this.#wallet, keys = [] }: Wanted,
    number: bigint,
    nodes: Set<Hex>,
  ): Promise<Json> {
    if (layout === undefined && !["native", "code", "nonce"].includes(kind))
      return { path, kind: "none", reason: "no_layout" };
    if (layout === null) return { path, kind: "none", reason: "no_layout" };
    const slot = layout && slotOf(layout, [holder, ...keys]);
    const params = [account, slot === undefined ? [] : [slot], numberToHex(number)];
    const proof = (await this.#chain.request("eth_getProof", params)) as RpcProof;
    // Embedded nodes are inside others; EDR lists none, and no storage trie here is empty.
    for (const node of [...proof.accountProof, ...proof.storageProof.flatMap((each) => each.proof)])
      nodes.add(node);
    if (kind === "code") {
      const code = await this.#chain.request("eth_getCode", [account, numberToHex(number)]);
      return { path, kind, account, code: code === "0x" ? null : code };
    }
    return slot === undefined ? { path, kind, account } : { path, kind, account, layout, slot };
  }
}

type Wanted = {
  readonly path: string;
  readonly kind: string;
  readonly account: Hex;
  readonly layout?: StageLayout | null | undefined;
  /** The first key, if it is not the wallet. */
  readonly holder?: Hex;
  readonly keys?: readonly Hex[];
};

function wantPermission(
  { kind, contract, rawBalance }: Readonly<Record<string, unknown>>,
  index: number,
  owners?: StageOwners,
): readonly Wanted[] {
  const token = TOKENS.find((each) => each.contract === contract);
  const path = `/permissions/${index}`;
  if (kind === "permit2-allowance") {
    const layout = full("solidity", "0x1", "0-159");
    const keys = [contract as Hex, SPENDER];
    return [{ path: `${path}/rawAllowance`, kind: "permit2", account: PERMIT2, layout, keys }];
  }
  if (kind === "nft-approval" && owners !== undefined) {
    const { layout, tokenId: holder } = owners;
    return [{ path: `${path}/tokenId`, kind: "owner", account: COLLECTION, layout, holder }];
  }
  if (kind !== "erc20-allowance" || token === undefined) return [];
  const allowance = {
    path: `${path}/rawAllowance`,
    kind: "allowance",
    account: token.contract,
    layout: token.allowance,
    keys: [SPENDER],
  };
  const balance = {
    path: `${path}/rawBalance`,
    kind: "erc20",
    account: token.contract,
    layout: token.layout,
  };
  return rawBalance === null ? [allowance] : [allowance, balance];
}

function wantAllowance(
  { kind, contract, spender }: Readonly<Record<string, unknown>>,
  index: number,
): Wanted {
  const path = `/allowances/${index}/rawAllowance`;
  const [account, key] = [contract as Hex, spender as Hex];
  if (kind === "permit2-allowance") {
    const layout = full("solidity", "0x1", "0-159");
    return { path, kind: "permit2", account: PERMIT2, layout, keys: [account, key] };
  }
  const layout = TOKENS.find((each) => each.contract === contract)?.allowance;
  return { path, kind: "allowance", account, layout, keys: [key] };
}

function stateBlock(report: Json, side: "from" | "to" | null, number: bigint, hash: Hex): void {
  if (side !== null)
    Object.assign((report[side] as { blocks: Json[] }).blocks[0] ?? {}, { number: Number(number) });
  else if (report.blocks !== undefined)
    Object.assign((report.blocks as Json[])[0] ?? {}, { number: Number(number), hash });
  else Object.assign((report.summary as { chains: Json[] }).chains[0] ?? {}, { blockNumber: Number(number) });
}

const HEADER = [
  ...[
    "parentHash",
    "sha3Uncles",
    "miner",
    "stateRoot",
    "transactionsRoot",
    "receiptsRoot",
    "logsBloom",
    "difficulty",
  ],
  ...["number", "gasLimit", "gasUsed", "timestamp", "extraData", "mixHash", "nonce", "baseFeePerGas"],
  ...["withdrawalsRoot", "blobGasUsed", "excessBlobGas", "parentBeaconBlockRoot", "requestsHash"],
];
const INTEGERS = new Set([
  "difficulty",
  "number",
  "gasLimit",
  "gasUsed",
  "timestamp",
  "baseFeePerGas",
  "blobGasUsed",
  "excessBlobGas",
]);

function encodeHeader(block: Readonly<Record<string, Hex>>): Hex {
  const fields = HEADER.filter((name) => block[name] !== undefined).map((name): Hex => {
    const value = block[name] ?? "0x";
    if (!INTEGERS.has(name)) return value;
    return BigInt(value) === 0n ? "0x" : numberToHex(BigInt(value));
  });
  return toRlp(fields.map((field) => (field.length % 2 === 0 ? field : (`0x0${field.slice(2)}` as Hex))));
}

/** In whole millionths, as all amounts of the stage are. */
function coverageOf(report: Json, chains: readonly Json[]): Json {
  const millionths = (value: unknown) => BigInt(Math.round(Number(value ?? 0) * 1e6));
  const proven = new Set(
    chains.flatMap(({ claims }) =>
      (claims as Json[]).flatMap(({ path, kind }) => (kind === "none" ? [] : [path])),
    ),
  );
  const list = (name: string) => (report[name] ?? []) as Json[];
  const rows = [
    ...list("tokens").flatMap((token, index) =>
      "total" in report
        ? ["before", "after"].map((side) => ({
            path: `/tokens/${index}/${side}/rawBalance`,
            usd: millionths((token[side] as Json | null)?.valueUsd),
          }))
        : [{ path: `/tokens/${index}/rawBalance`, usd: millionths(token.valueUsd) }],
    ),
    ...list("permissions").map(({ valueAtRiskUsd }, index) => ({
      path: `/permissions/${index}/rawAllowance`,
      usd: millionths(valueAtRiskUsd),
    })),
    ...list("positions").map(({ valueUsd }) => ({ path: "", usd: millionths(valueUsd) })),
  ];
  const sum = (some: typeof rows) => some.reduce((total, { usd }) => total + usd, 0n);
  const [part, whole] = [sum(rows.filter(({ path }) => proven.has(path))), sum(rows)];
  const share = whole === 0n ? null : formatUnits((part * 10_000n) / whole, 4);
  return { provenUsd: formatUnits(part, 6), totalUsd: formatUnits(whole, 6), share };
}
