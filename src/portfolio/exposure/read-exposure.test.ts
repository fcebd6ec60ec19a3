// Permissions over a wallet on a real chain: every live one in scope, none that is zero, each revoked by its own call.
import { allowanceScannerRuntimeBytecode as scannerCode } from "@sextant/contracts/generated/allowance-scanner";
import { plainTokenAbi, plainTokenBytecode } from "@sextant/contracts/generated/plain-token";
import { HOSTILE_CODE, numberedAddress, returningCode } from "@sextant/contracts/test/hostile-token-code";
import fc from "fast-check";
import {
  concatHex,
  createWalletClient,
  defineChain,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  http,
  numberToHex,
  pad,
  toFunctionSelector,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { describe, expect, it, onTestFinished } from "vitest";
import { fixedReturnCode } from "../../../tests/support/chain/fixed-return-contract.ts";
import {
  rejectStateOverrides,
  startPortfolioStage,
} from "../../../tests/support/portfolio/portfolio-stage.ts";
import { runsOf } from "../../../tests/support/test-depth.ts";
import { MULTICALL3 } from "../../chain/aggregate3.ts";
import { hashEvent } from "../../lib/abi/codec.ts";
import { systemClock } from "../../lib/clock.ts";
import { addDecimals, formatDecimal, parseDecimal } from "../../lib/decimal.ts";
import type { Exposure, ExposurePermission } from "../../schema/portfolio/exposure.ts";
import { SAFE_PROXY_CODES } from "../account/kind.ts";
import { rpcHoldingsProvider } from "../providers/rpc/provider.ts";
import {
  type Delegation,
  getAssetKey,
  type PortfolioChain,
  type PositionReader,
  type PriceSource,
  type ProtocolPosition,
  quotePrice,
} from "../types.ts";
import { readExposure } from "./read-exposure.ts";
import { createSpenderList } from "./spenders.ts";

/** Claims the largest allowance for everyone, and a balance as large. */
const LIAR = numberedAddress(0x11a4);
const HOSTILE = Object.entries(HOSTILE_CODE).flatMap(([name, code], i) =>
  code === null ? [] : [{ name, code, address: numberedAddress(0xbad0 + i) }],
);
/** Each is held, and claims to be approved for every known spender. */
const LIARS = Array.from({ length: 270 }, (_, i) => numberedAddress(0x11b000 + i));
const stage = await startPortfolioStage({
  [LIAR]: returningCode(2n ** 256n - 1n),
  ...Object.fromEntries(LIARS.map((address) => [address, returningCode(1n)])),
  ...Object.fromEntries(HOSTILE.map(({ address, code }) => [address, code])),
});
const { chain, wallet } = stage;
const owner = chain.accounts.owner.address;
const { signal } = new AbortController();
const [scanNode, plainNode] = [await stage.node(), await stage.node(rejectStateOverrides)];

async function send(to: Hex | null, data: Hex, from: Hex = wallet): Promise<void> {
  const transaction = { from, ...(to === null ? {} : { to }), data, gas: numberToHex(3_000_000) };
  await chain.request("eth_sendTransaction", [transaction]);
}

async function deployToken(): Promise<Hex> {
  const nonce = BigInt((await chain.request("eth_getTransactionCount", [owner, "latest"])) as Hex);
  const args = ["Plain", "PLN", 6] as const;
  await send(null, encodeDeployData({ abi: plainTokenAbi, bytecode: plainTokenBytecode, args }), owner);
  return getContractAddress({ from: owner, nonce }).toLowerCase() as Hex;
}

const approve = (token: Hex, spender: Hex, amount: bigint) =>
  send(token, encodeFunctionData({ abi: plainTokenAbi, functionName: "approve", args: [spender, amount] }));
const mint = (token: Hex, amount: bigint) =>
  send(
    token,
    encodeFunctionData({ abi: plainTokenAbi, functionName: "mint", args: [wallet, amount] }),
    owner,
  );

/** Takes the chain back after a test with a flood of logs: every later read would scan all of them again. */
async function revertAfterTest(): Promise<void> {
  const snapshot = await chain.request("evm_snapshot");
  onTestFinished(async () => {
    expect(await chain.request("evm_revert", [snapshot])).toBe(true);
  });
}

/** Emits this many Approval logs that name the wallet as owner, each for another spender; reverts when only read. */
const approvalFloodCode = (count: number): Hex => {
  const topics = `8073${wallet.slice(2)}7f${hashEvent("Approval(address,address,uint256)").slice(2)}`;
  // The count; per round LOG3 without data, and one less, until the count is zero.
  return `0x61${numberToHex(count, { size: 2 }).slice(2)}5b${topics}5f5fa3600190038060035700`;
};

/** The same for delegations of debt in this asset. */
const delegationFloodCode = (count: number, asset: Hex): Hex => {
  const event = hashEvent("BorrowAllowanceDelegated(address,address,address,uint256)").slice(2);
  const topics = `73${asset.slice(2)}8173${wallet.slice(2)}7f${event}`;
  return `0x61${numberToHex(count, { size: 2 }).slice(2)}5b${topics}60205fa4600190038060035700`;
};

const KNOWN = Array.from({ length: 6 }, (_, i) => numberedAddress(0xa000 + i));
const OUTSIDERS = Array.from({ length: 6 }, (_, i) => numberedAddress(0xb000 + i));
const KNOWN_DELEGATE = numberedAddress(0xde1e6a80);
const spenders = createSpenderList(
  [
    ...KNOWN.map((address, i) => ({
      ...{ name: `Router ${i}`, protocol: "Test", kind: "router" as const, source: "this test" },
      deployments: [[chain.chainId, address]] as const,
    })),
    {
      ...{ name: "Wallet", protocol: "Test", kind: "delegate", source: "this test" },
      deployments: [[chain.chainId, KNOWN_DELEGATE]],
    },
  ],
  "7 (2026-01-01)",
);
const DOLLARS = { units: 25n, scale: 1 };
const priceSource: PriceSource = {
  name: "test",
  read: async ({ assets }) => ({
    prices: new Map(assets.map((asset) => [getAssetKey(asset), quotePrice(DOLLARS)])),
    warnings: [],
  }),
};

function read(
  access: PortfolioChain,
  of: Hex = wallet,
  positionReaders: readonly PositionReader[] = [],
  prices: PriceSource = priceSource,
): Promise<Exposure> {
  const options = {
    provider: rpcHoldingsProvider,
    priceSources: [[prices]],
    positionReaders,
    spenders,
    clock: systemClock,
  };
  const chains = new Map([[access.chain.slug, access]]);
  return readExposure({ ...options, chains }, { wallet: of, slugs: [access.chain.slug] }, signal);
}

const summarize = (permissions: readonly ExposurePermission[]) =>
  permissions.map(({ contract, spender, rawAllowance }) => `${contract} ${spender} ${rawAllowance}`).sort();

const tokens = [await deployToken(), await deployToken(), await deployToken()];
const UINT256_MAX = 2n ** 256n - 1n;
// Known spenders are read of what is held.
for (const token of tokens) await mint(token, 1_000n);

it("asks the node for no transaction: an exposure shows no activity", async () => {
  const asked: string[] = [];
  const node = await stage.node((calls) => {
    asked.push(...calls.map(({ method }) => method));
    return null;
  });
  await read(stage.port(node, tokens));
  expect(asked).toContain("eth_getLogs");
  expect(asked).not.toContain("eth_getTransactionByHash");
});

it("asks for the prices of what a permission is about, and for no other prices or positions", async () => {
  await revertAfterTest();
  const [[token = "0x"], [spender = "0x"]] = [tokens, OUTSIDERS];
  const asked: string[] = [];
  const prices: PriceSource = {
    ...priceSource,
    read: (query, stop) => {
      asked.push(...query.assets.map(getAssetKey));
      return priceSource.read(query, stop);
    },
  };
  const positions: PositionReader = {
    protocol: "asked",
    read: async () => {
      asked.push("positions");
      return { positions: [], warnings: [] };
    },
  };
  const readHeld = () => read(stage.port(scanNode, tokens), wallet, [positions], prices);
  expect((await readHeld()).permissions).toEqual([]);
  expect(asked).toEqual([]);
  await approve(token, spender, 5n);
  expect((await readHeld()).permissions).toHaveLength(1);
  expect([...new Set(asked)]).toEqual([token]);
});

describe.each([
  ["by scan", scanNode],
  ["by multicall", plainNode],
])("permissions %s", (_, node) => {
  it("lists exactly the live permissions and their value at risk, for any approvals", async () => {
    const amount = fc.constantFrom(0n, 1n, 333_333n, 5_000_000n, 2n ** 96n - 1n, UINT256_MAX);
    const approval = fc.tuple(
      fc.nat(2),
      fc.constantFrom(...KNOWN.slice(0, 3), ...OUTSIDERS.slice(0, 3)),
      amount,
    );
    const allowances = new Map<string, bigint>();
    const balances = new Map<Hex, bigint>(tokens.map((token) => [token, 0n]));
    for (const token of tokens) {
      for (const spender of [...KNOWN, ...OUTSIDERS]) await approve(token, spender, 0n);
    }
    const read0 = await Promise.all(
      tokens.map((token) => {
        const data = encodeFunctionData({ abi: plainTokenAbi, functionName: "balanceOf", args: [wallet] });
        return chain.request("eth_call", [{ to: token, data }, "latest"]);
      }),
    );
    for (const [i, token] of tokens.entries()) balances.set(token, BigInt(read0[i] as Hex));
    await fc.assert(
      fc.asyncProperty(
        fc.array(approval, { maxLength: 8 }),
        fc.tuple(fc.nat(2), fc.bigInt(0n, 1_000_000n)),
        async (approvals, [minted, gift]) => {
          for (const [index, spender, value] of approvals) {
            const token = tokens[index] as Hex;
            await approve(token, spender, value);
            allowances.set(`${token} ${spender}`, value);
          }
          const token = tokens[minted] as Hex;
          await mint(token, gift);
          balances.set(token, (balances.get(token) ?? 0n) + gift);
          const { permissions, summary } = await read(stage.port(node, tokens));
          const live = [...allowances].filter(([, value]) => value > 0n);
          expect(summarize(permissions)).toEqual(live.map(([pair, value]) => `${pair} ${value}`).sort());
          // Six decimals and 2.5 dollars each: units times 25, over 10, is the value in millionths.
          const min = (a: bigint, b: bigint) => (a < b ? a : b);
          const worth = (units: bigint) => (units * 25n + 5n) / 10n;
          for (const { contract, rawAllowance, valueAtRiskUsd } of permissions) {
            const taken = min(BigInt(rawAllowance ?? 0), balances.get(contract as Hex) ?? 0n);
            expect(BigInt(Math.round(Number(valueAtRiskUsd) * 1e6))).toBe(worth(taken));
          }
          const total = tokens.reduce((sum, one) => {
            const own = live
              .filter(([pair]) => pair.startsWith(one))
              .reduce((all, [, value]) => all + value, 0n);
            return sum + worth(min(own, balances.get(one) ?? 0n));
          }, 0n);
          expect(BigInt(Math.round(Number(summary.valueAtRiskUsd) * 1e6))).toBe(total);
          expect(summary.permissionCount).toBe(live.length);
        },
      ),
      { numRuns: runsOf(20) },
    );
  });
});

describe("each revocation", () => {
  it("brings its permission to zero, and only that one", async () => {
    await approve(tokens[0] as Hex, KNOWN[4] as Hex, UINT256_MAX);
    await approve(tokens[1] as Hex, OUTSIDERS[4] as Hex, 9n);
    const port = stage.port(scanNode, tokens);
    let left = (await read(port)).permissions;
    expect(left.length).toBeGreaterThanOrEqual(2);
    while (left.length > 0) {
      const [first, ...others] = left;
      if (first?.revoke?.type !== "call") throw new Error("an allowance is revoked by a call");
      expect(first.revoke.from).toBe(wallet);
      await send(first.revoke.to, first.revoke.data);
      const now = (await read(port)).permissions;
      expect(summarize(now)).toEqual(summarize(others));
      left = now;
    }
  });
});

describe("the response", () => {
  it("names known spenders, marks the others, and says what is unlimited and what was searched", async () => {
    const [token] = tokens as [Hex];
    await approve(token, KNOWN[0] as Hex, UINT256_MAX);
    await approve(token, OUTSIDERS[0] as Hex, 5n);
    const { permissions, summary } = await read(stage.port(scanNode, tokens));
    const [known, outsider] = permissions;
    expect(known).toMatchObject({
      ...{
        kind: "erc20-allowance",
        contract: token,
        symbol: "T0",
        spender: KNOWN[0],
        spenderName: "Router 0",
      },
      ...{ unlimited: true, reasons: ["unlimited"], expiresAt: null, via: null },
    });
    expect(outsider).toMatchObject({
      ...{ spender: OUTSIDERS[0], spenderName: null, unlimited: false, reasons: ["unknown spender"] },
      ...{ rawAllowance: "5", allowance: "0.000005", valueAtRiskUsd: "0.000013" },
    });
    expect(summary).toMatchObject({ permissionCount: 2, unlimitedCount: 1, unknownSpenderCount: 1 });
    expect(summary.spenderListVersion).toBe("7 (2026-01-01)");
    expect(summary.warnings.join("\n")).toMatch(/list 7 \(2026-01-01\).* since block \d+/);
  });

  it("lists what known spenders may take although no log can be read", async () => {
    const blind = await stage.node((calls) =>
      calls.some(({ method }) => method === "eth_getLogs") ? { kind: "status", status: 500 } : null,
    );
    const { permissions, summary } = await read(stage.port(blind, tokens));
    expect(permissions.map(({ spender }) => spender)).toEqual([KNOWN[0]]);
    expect(summary.chains[0]?.searchedFromBlock).toBeNull();
    expect(summary.partial).toBe(true);
    expect(summary.warnings.join("\n")).toContain("approvals could not be searched");
  });

  it("finds approvals of listed tokens behind thousands of logs that a third party emits in the wallet's name", async () => {
    await revertAfterTest();
    const [token, outsider] = [tokens[1] as Hex, OUTSIDERS[5] as Hex];
    await approve(token, outsider, 7n);
    await chain.mine(200);
    const flood = numberedAddress(0xf100d);
    await chain.setCode(flood, approvalFloodCode(600));
    await send(flood, "0x");
    // As a node that limits the results: of all approvals, only a few blocks fit.
    const limited = await stage.node((calls) => {
      const filters = calls.flatMap(({ method, params }) => (method === "eth_getLogs" ? [params[0]] : []));
      const isTooLarge = (
        filters as { address?: Hex; topics: unknown[]; fromBlock: Hex; toBlock: Hex }[]
      ).some(
        ({ address, topics, fromBlock, toBlock }) =>
          address === undefined && Array.isArray(topics[0]) && BigInt(toBlock) - BigInt(fromBlock) > 3n,
      );
      const message = "query returned more than 10000 results";
      return isTooLarge ? { kind: "member-error", code: -32005, message } : null;
    });
    const { permissions, summary } = await read(stage.port(limited, tokens));
    expect(summarize(permissions)).toContain(`${token} ${outsider} 7`);
    expect(summary.warnings.join("\n")).toMatch(
      /logs of others hide approvals.* of listed tokens .* since block 0/,
    );
  });

  it("loses nothing to hostile tokens, and lists a liar's claims last", async () => {
    const listed = [...HOSTILE.map(({ address }) => address), ...tokens];
    const honest = await read(stage.port(scanNode, listed));
    expect(summarize(honest.permissions)).toEqual(
      summarize((await read(stage.port(scanNode, tokens))).permissions),
    );
    const { permissions } = await read(stage.port(scanNode, [LIAR, ...tokens]));
    expect(permissions.filter(({ contract }) => contract === LIAR)).toHaveLength(KNOWN.length);
  });

  it("does not know the total if the account's own code could not be read", async () => {
    const blind = await stage.node((calls) =>
      calls.some(({ method }) => method === "eth_getCode") ? { kind: "status", status: 500 } : null,
    );
    const account = numberedAddress(0xc0de);
    const seen = await read(stage.port(scanNode, tokens), account);
    expect(seen.summary).toMatchObject({ valueAtRiskUsd: "0", partial: false });
    const { summary } = await read(stage.port(blind, tokens), account);
    expect(summary).toMatchObject({ permissionCount: 0, valueAtRiskUsd: null, partial: true });
    expect(summary.chains).toMatchObject([{ valueAtRiskUsd: null, partial: true }]);
    expect(summary.warnings.join("\n")).toContain("its code could not be read");
  });

  it("calls the total partial if a listed token that is held does not say who may take it", async () => {
    const silent = numberedAddress(0x51137);
    const partial = async (balance: Hex) => {
      await chain.setCode(silent, fixedReturnCode({ "balanceOf(address)": pad(balance) }));
      return (await read(stage.port(scanNode, [silent, ...tokens]))).summary.partial;
    };
    expect([await partial("0x0"), await partial("0x5")]).toEqual([false, true]);
  });

  it("shows the delegate of an account by EIP-7702, with everything at risk and an authorization to sign", async () => {
    const account = numberedAddress(0x7702);
    const delegate = numberedAddress(0xde1e6a7e);
    await chain.setCode(account, `0xef0100${delegate.slice(2)}`);
    const token = tokens[0] as Hex;
    const args = [account, 4_000_000n] as const;
    await send(token, encodeFunctionData({ abi: plainTokenAbi, functionName: "mint", args }), owner);
    const { permissions, summary } = await read(stage.port(scanNode, tokens), account);
    expect(permissions).toHaveLength(1);
    expect(permissions[0]).toMatchObject({
      ...{ kind: "delegate", contract: account, spender: delegate, valueAtRiskUsd: "10" },
      reasons: ["unverified delegate", "full control"],
      revoke: {
        type: "authorization",
        authorization: { chainId: chain.chainId, address: numberedAddress(0) },
      },
    });
    expect(summary.valueAtRiskUsd).toBe("10");
  });

  it("counts nothing for a known delegate, which acts only on the owner's signature", async () => {
    const account = numberedAddress(0x7703);
    await chain.setCode(account, `0xef0100${KNOWN_DELEGATE.slice(2)}`);
    const args = [account, 4_000_000n] as const;
    await send(
      tokens[0] as Hex,
      encodeFunctionData({ abi: plainTokenAbi, functionName: "mint", args }),
      owner,
    );
    const { permissions, summary } = await read(stage.port(scanNode, tokens), account);
    expect(permissions).toMatchObject([
      { kind: "delegate", spender: KNOWN_DELEGATE, spenderName: "Wallet", valueAtRiskUsd: "0", reasons: [] },
    ]);
    expect(summary).toMatchObject({ valueAtRiskUsd: "0", partial: false });
  });

  it("no longer shows a delegate once the account has signed the authorization that revokes it", async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    const address = account.address.toLowerCase() as Hex;
    const client = createWalletClient({
      account: privateKeyToAccount(chain.accounts.owner.privateKey),
      chain: defineChain({ ...foundry, id: chain.chainId }),
      transport: http(chain.rpcUrl),
    });
    /** Another account sends it, so that the wallet needs no ether. */
    const authorize = async (delegate: Hex) => {
      const nonce = Number(await chain.request("eth_getTransactionCount", [address, "latest"]));
      const signed = await account.signAuthorization({
        contractAddress: delegate,
        chainId: chain.chainId,
        nonce,
      });
      await client.sendTransaction({ to: address, authorizationList: [signed], gas: 200_000n });
    };
    const delegate = numberedAddress(0xde1e6a7f);
    await authorize(delegate);
    const before = await read(stage.port(scanNode, tokens), address);
    expect(before.permissions.map(({ kind, spender }) => [kind, spender])).toEqual([["delegate", delegate]]);
    const revoke = before.permissions[0]?.revoke;
    if (revoke?.type !== "authorization") throw new Error("a delegate is revoked by an authorization");
    expect(revoke.authorization.chainId).toBe(chain.chainId);
    await authorize(revoke.authorization.address);
    expect((await read(stage.port(scanNode, tokens), address)).permissions).toEqual([]);
    expect(await chain.request("eth_getCode", [address, "latest"])).toBe("0x");
  });

  it("lists every operator of an ERC-777 token that is held, and asks nothing more about other tokens", async () => {
    await revertAfterTest();
    const token = numberedAddress(0x777);
    const [logged, byDefault] = [numberedAddress(0x777a), numberedAddress(0x777b)];
    const word = (value: bigint | Hex) => numberToHex(BigInt(value), { size: 32 });
    const event = hashEvent("AuthorizedOperator(address,address)");
    // LOG3 without data: the event, the operator, the holder.
    await chain.setCode(token, `0x73${wallet.slice(2)}73${logged.slice(2)}7f${event.slice(2)}5f5fa300`);
    await send(token, "0x");
    const code = {
      "balanceOf(address)": word(4n * 10n ** 18n),
      "isOperatorFor(address,address)": word(1n),
      "allowance(address,address)": word(0n),
    };
    const operatorsOf = async (views: Readonly<Record<string, Hex>>) => {
      await chain.setCode(token, fixedReturnCode(views));
      const node = await stage.node();
      const { permissions, summary } = await read(stage.port(node, [token]));
      const searches = node.requests.flat().filter(({ params }) => JSON.stringify(params).includes(event));
      return {
        found: permissions.filter(({ contract, kind }) => contract === token && kind === "token-operator"),
        ...{ summary, searches: searches.length },
      };
    };
    const plain = await operatorsOf({ ...code, "isOperatorFor(address,address)": word(0n) });
    expect([plain.found, plain.searches]).toEqual([[], 0]);
    const defaults = concatHex([word(32n), word(1n), word(byDefault)]);
    const { found, summary, searches } = await operatorsOf({ ...code, "defaultOperators()": defaults });
    expect(searches).toBeGreaterThan(0);
    expect(new Set(found.map(({ spender }) => spender))).toEqual(new Set([logged, byDefault, ...KNOWN]));
    expect(found.find(({ spender }) => spender === logged)).toMatchObject({
      ...{ unlimited: true, valueAtRiskUsd: "10", reasons: ["unlimited", "unknown spender"] },
      revoke: { to: token, data: `0xfad8b32a${pad(logged).slice(2)}` },
    });
    // All of them together take what is held, once.
    const before = parseDecimal(plain.summary.valueAtRiskUsd ?? "", "the value before");
    const together = formatDecimal(addDecimals(before, parseDecimal("10", "what is held")));
    expect(summary).toMatchObject({ valueAtRiskUsd: together, partial: plain.summary.partial });
    const silent = await operatorsOf(code);
    expect(silent.summary.partial).toBe(true);
    expect(silent.summary.warnings.join()).toContain("operators of ERC-777 tokens could not be read in full");
    // The newest of very many are read: each round names its number.
    const flood = `5b73${wallet.slice(2)}817f${event.slice(2)}5f5fa3600190038060035700`;
    await chain.setCode(token, `0x61${numberToHex(510, { size: 2 }).slice(2)}${flood}`);
    await send(token, "0x");
    const flooded = await operatorsOf({ ...code, "defaultOperators()": defaults });
    expect(flooded.summary.permissionCount).toBeGreaterThanOrEqual(500 + KNOWN.length);
    expect(flooded.summary.partial).toBe(true);
  });

  it("asks each ERC-777 token with a gas limit of its own, so that none burns the gas of the others", async () => {
    const [token, burner] = [numberedAddress(0x7771), numberedAddress(0x7772)];
    const word = (value: bigint) => numberToHex(value, { size: 32 });
    const views = {
      "balanceOf(address)": word(5n),
      "isOperatorFor(address,address)": word(1n),
      "defaultOperators()": concatHex([word(32n), word(0n)]),
      "allowance(address,address)": word(0n),
    };
    await chain.setCode(token, fixedReturnCode(views));
    await chain.setCode(burner, fixedReturnCode(views));
    const node = await stage.node();
    await read(stage.port(node, [token, burner]));
    const selector = toFunctionSelector("isOperatorFor(address,address)").slice(2);
    const multicalls = node.requests
      .flat()
      .filter(({ params }) => JSON.stringify(params[0] ?? "").includes(selector))
      .filter(({ params }) => (params[0] as { to?: Hex }).to?.toLowerCase() === MULTICALL3.toLowerCase());
    expect(multicalls).toEqual([]);
    for (const one of [token, burner]) await chain.setCode(one, "0x");
  });

  it("takes one call of the scanner for a thousand pairs, and lists only what matters most of a thousand", async () => {
    const count = async (listed: readonly Hex[]) => {
      const node = await stage.node();
      const exposure = await read(stage.port(node, listed));
      const isScan = (params: readonly unknown[]) => JSON.stringify(params[2] ?? "").includes(scannerCode);
      return { exposure, scans: node.requests.flat().filter(({ params }) => isScan(params)).length };
    };
    expect((await count(LIARS.slice(0, 1))).scans).toBe(1);
    const { exposure, scans } = await count(LIARS);
    // 1,620 pairs of these tokens, and the few in logs of other tokens.
    expect(scans).toBe(2);
    expect(exposure.summary.permissionCount).toBeGreaterThanOrEqual(LIARS.length * KNOWN.length);
    expect(exposure.permissions).toHaveLength(500);
    expect(exposure.summary.warnings[0]).toMatch(
      /^The \d+ permissions with the least at risk, or of .* are counted/,
    );
  });
});

describe("the code of the account itself", () => {
  const [SINGLETON, ENTRY_POINT]: readonly Hex[] = [
    "0x41675c099f32341bf84bfc5382af534df5c7461a",
    "0x0000000071727de22e5e9d8baf0edac6f37da032",
  ];
  const words = (...values: readonly (bigint | Hex)[]) =>
    concatHex(values.map((value) => numberToHex(BigInt(value), { size: 32 })));
  const safeViews = {
    "VERSION()": concatHex([words(32n, 5n), "0x312e342e31", `0x${"00".repeat(27)}`]),
    "getThreshold()": words(2n),
    "getOwners()": words(32n, 3n, 0xa1n, 0xa2n, 0xa3n),
    "getModulesPaginated(address,uint256)": words(64n, 1n, 0n),
  };
  const safeCode = fixedReturnCode(safeViews);
  const owned = fixedReturnCode({ "owner()": words(0xa1n), "entryPoint()": words(ENTRY_POINT as Hex) });
  const [foreign, safe, other, old] = [0x5afe01, 0x5afe02, 0x5afe03, 0x5afe04].map(numberedAddress) as [
    ...[Hex, Hex, Hex, Hex],
  ];

  const readAccountCode = async (
    account: Hex,
    code: Hex,
    singleton: Hex | null = null,
    singletonCode = safeCode,
  ) => {
    await chain.setCode(account, code);
    if (singleton !== null) {
      await chain.setCode(singleton, singletonCode);
      await chain.request("hardhat_setStorageAt", [account, "0x0", words(singleton)]);
    }
    const args = [account, 4_000_000n] as const;
    await send(
      tokens[0] as Hex,
      encodeFunctionData({ abi: plainTokenAbi, functionName: "mint", args }),
      owner,
    );
    const { permissions, summary } = await read(stage.port(scanNode, tokens), account);
    return {
      ...{ value: summary.valueAtRiskUsd, partial: summary.partial },
      code: permissions.filter(({ kind }) => kind === "account-code"),
      others: permissions.filter(({ kind }) => kind !== "account-code"),
      isWarned: summary.warnings.some((warning) =>
        /account's own code .* could let others act/.test(warning),
      ),
    };
  };

  it("puts nothing at risk in a Safe that runs a published singleton", async () => {
    const shown = await readAccountCode(safe, SAFE_PROXY_CODES[0] as Hex, SINGLETON);
    expect(shown).toMatchObject({ value: "0", partial: false, code: [], isWarned: false });
    expect(shown.others.map(({ valueAtRiskUsd }) => valueAtRiskUsd)).toEqual(["0", "0", "0"]);
  });

  it.each([
    ["1.1.1", "0x34cfac646f301356faa8b21e94227e3583fe3f5f"],
    ["1.2.0", "0x6851d6fdfafd08c0295c392436245e5bc78b0185"],
  ] as const)("knows the handler of a Safe %s, which has no view for it", async (_, singleton) => {
    const HANDLER_SLOT = "0x6c9a6c4a39284e37ed1cf53d337577d14212a4870fb976a4366c693b939918d5";
    const readHandler = async (handler: Hex) => {
      await chain.setCode(old, SAFE_PROXY_CODES[0] as Hex);
      await chain.request("hardhat_setStorageAt", [old, HANDLER_SLOT, words(handler)]);
      return readAccountCode(old, SAFE_PROXY_CODES[0] as Hex, singleton);
    };
    expect(await readHandler(numberedAddress(0))).toMatchObject({ value: "0", partial: false, code: [] });
    const { value, partial, others } = await readHandler(foreign);
    expect([value, partial]).toEqual([null, true]);
    expect(others).toContainEqual(
      expect.objectContaining({ kind: "fallback-handler", spender: foreign, valueAtRiskUsd: null }),
    );
  });

  it("does not know what is at risk in a Safe whose modules could not be read", async () => {
    const { "getModulesPaginated(address,uint256)": _, ...silent } = safeViews;
    const proxy = SAFE_PROXY_CODES[0] as Hex;
    const shown = await readAccountCode(safe, proxy, SINGLETON, fixedReturnCode(silent));
    expect(shown).toMatchObject({ value: null, partial: true, code: [] });
  });

  it("puts an unknown part at risk in a Safe whose proxy runs any other code, whatever that says", async () => {
    const shown = await readAccountCode(safe, SAFE_PROXY_CODES[0] as Hex, foreign);
    expect(shown).toMatchObject({ value: null, partial: true, isWarned: true });
    expect(shown.code).toMatchObject([
      { contract: safe, spender: foreign, valueAtRiskUsd: null, reasons: ["unverified code"], revoke: null },
    ]);
    // How many of them must sign is the word of that code.
    expect(shown.others.map(({ valueAtRiskUsd }) => valueAtRiskUsd)).toEqual([null, null, null]);
  });

  it.each([
    ["an ERC-4337 account", owned],
    ["a contract that names no owner", fixedReturnCode({})],
    ["a contract that says it is a Safe", safeCode],
  ])("puts an unknown part at risk in %s", async (_, code) => {
    const shown = await readAccountCode(other, code);
    expect(shown).toMatchObject({ value: null, partial: true, isWarned: true });
    expect(shown.code).toMatchObject([
      { spender: other, valueAtRiskUsd: null, reasons: ["unverified code"] },
    ]);
  });
});

describe("permissions inside protocols", () => {
  const MANAGER = numberedAddress(0x9a1);
  const POOL = numberedAddress(0x9a2);
  const COMET = numberedAddress(0x9a3);
  const CONNECTOR = numberedAddress(0x9a4);
  const one = pad("0x1", { size: 32 });
  const supplied = (given: Partial<ProtocolPosition>): ProtocolPosition => ({
    ...{ protocol: "test", kind: "supplied", name: "Test", contract: null, receiptTokens: [], ...given },
    assets: [
      { contract: tokens[0] as Hex, symbol: "T", name: "T", decimals: 0, logo: null, rawBalance: 400n },
    ],
  });
  const delegations: readonly Delegation[] = [
    { form: "nft", protocol: "test", contract: MANAGER },
    { form: "comet", protocol: "test", contract: COMET },
    { form: "euler", protocol: "euler", contract: CONNECTOR },
    {
      ...{ form: "aave", protocol: "test", contract: POOL, words: 15, debtWords: [10] },
      underlyingOf: new Map([[numberedAddress(0x9a5), tokens[0] as Hex]]),
    },
  ];
  const reader: PositionReader = {
    protocol: "test",
    delegations: () => delegations,
    read: async () => ({
      positions: [
        supplied({ contract: MANAGER, tokenId: 7n }),
        supplied({ market: COMET }),
        supplied({ protocol: "euler", market: `euler:${wallet}` }),
      ],
      warnings: [],
    }),
  };
  const countRequests = async (readers: readonly PositionReader[]) => {
    const node = await stage.node();
    const exposure = await read(stage.port(node, tokens), wallet, readers);
    return { exposure, requests: node.requests.length };
  };

  it("asks no node more for a wallet that uses none of the protocols, and warns of none that is not there", async () => {
    const without = await countRequests([]);
    expect((await countRequests([reader])).requests).toBe(without.requests);
    for (const { contract } of delegations) {
      await chain.setCode(contract, fixedReturnCode({ "getUserConfiguration(address)": pad("0x0") }));
    }
    const unused = await countRequests([reader]);
    expect(unused.requests).toBe(without.requests);
    expect(unused.exposure.summary.warnings).toEqual(without.exposure.summary.warnings);
  });

  it("finds every known spender at the block, however old its permission is, and values what it can take", async () => {
    const before = await countRequests([]);
    // As used by the wallet, with no account that may act: one more scan.
    await chain.setCode(POOL, fixedReturnCode({ "getUserConfiguration(address)": one }));
    const used = await countRequests([reader]);
    expect(used.requests - before.requests).toBeLessThanOrEqual(1);
    await chain.setCode(COMET, fixedReturnCode({ "isAllowed(address,address)": one }));
    await chain.setCode(
      MANAGER,
      fixedReturnCode({ "balanceOf(address)": one, "isApprovedForAll(address,address)": one }),
    );
    await chain.setCode(
      CONNECTOR,
      fixedReturnCode({ "getAccountOwner(address)": one, "getOperator(bytes19,address)": one }),
    );
    const { exposure } = await countRequests([reader]);
    const inProtocols = exposure.permissions.filter(({ protocol }) => protocol !== null);
    expect(inProtocols).toHaveLength(3 * KNOWN.length);
    expect(new Set(inProtocols.map(({ valueAtRiskUsd }) => valueAtRiskUsd))).toEqual(new Set(["1000"]));
    expect(new Set(inProtocols.map(({ contract }) => contract))).toEqual(
      new Set([COMET, MANAGER, CONNECTOR]),
    );
    // Each position once, alongside the allowances of tokens that other tests left.
    const added = Number(exposure.summary.valueAtRiskUsd) - Number(before.exposure.summary.valueAtRiskUsd);
    expect(added).toBeCloseTo(3_000, 4);
  });

  it("has no value if the positions could not be read, lists such permissions first, and calls the total partial", async () => {
    const failing: PositionReader = { ...reader, read: () => Promise.reject(new Error("down")) };
    const { exposure } = await countRequests([failing]);
    const [first] = exposure.permissions;
    expect(first).toMatchObject({ protocol: "test", valueAtRiskUsd: null, partial: true });
    expect(exposure.summary.partial).toBe(true);
    expect(exposure.summary.warnings.join("\n")).toContain("Positions in test are missing");
  });

  it("finds a delegate of a debt token that our data lacks behind any number of logs of third parties", async () => {
    await revertAfterTest();
    const [pool, asset, debtToken, liar] = [0x9b1, 0x9b2, 0x9b3, 0x9b4].map(numberedAddress) as [
      ...[Hex, Hex, Hex, Hex],
    ];
    const words = (...values: readonly (bigint | number | Hex)[]) =>
      concatHex(values.map((value) => numberToHex(BigInt(value), { size: 32 })));
    const dollars = (amount: bigint) => amount * 10n ** 8n;
    const account = words(dollars(300_000n), 0, dollars(200_000n), 1, 1, 1);
    const views = { "getUserConfiguration(address)": one, "getUserAccountData(address)": account };
    const reserve = words(...Array.from({ length: 15 }, (_, i) => (i === 10 ? debtToken : 1n)));
    const reserves = { "getReservesList()": words(32, 1, asset), "getReserveData(address)": reserve };
    const emit = async (from: Hex, count: number) => {
      await chain.setCode(from, delegationFloodCode(count, asset));
      await send(from, "0x");
      const borrowAllowance = `0x${"ff".repeat(32)}` as const;
      await chain.setCode(from, fixedReturnCode({ "borrowAllowance(address,address)": borrowAllowance }));
    };
    const aave: PositionReader = {
      protocol: "aave",
      delegations: () => [
        {
          ...{ form: "aave", protocol: "aave", contract: pool, words: 15, debtWords: [10] },
          underlyingOf: new Map(),
        },
      ],
      read: async () => ({ positions: [supplied({ protocol: "aave", market: pool })], warnings: [] }),
    };
    const delegates = async () => {
      const { permissions, summary } = await read(stage.port(scanNode, []), wallet, [aave]);
      const found = permissions.filter(({ kind }) => kind === "borrow-delegation");
      return { found: found.map(({ contract, valueAtRiskUsd }) => [contract, valueAtRiskUsd]), summary };
    };
    await chain.setCode(pool, fixedReturnCode({ ...views, ...reserves }));
    await emit(debtToken, 1);
    const real = [[debtToken, "200000"]];
    expect((await delegates()).found).toEqual(real);
    await emit(liar, 300);
    expect((await delegates()).found).toEqual(real);
    // A pool that does not say which debt tokens are its own hides them, and that is said.
    await chain.setCode(pool, fixedReturnCode(views));
    const silent = await delegates();
    expect(silent.found).toEqual([]);
    expect(silent.summary.partial).toBe(true);
    expect(silent.summary.warnings.join("\n")).toMatch(
      new RegExp(`possible permissions? could not be read, of .*${pool}`),
    );
  });
});

describe("claims of third parties", () => {
  const FAKES = [0xfa01, 0xfa02, 0xfa03, 0xfa04].map(numberedAddress);

  /** Approvals in the wallet's name of tokens that allow everyone one unit and have no balance. */
  const claim = async (fakes: readonly Hex[], count: number) => {
    for (const fake of fakes) {
      await chain.setCode(fake, approvalFloodCode(count));
      await send(fake, "0x");
      await chain.setCode(fake, fixedReturnCode({ "allowance(address,address)": pad("0x1") }));
    }
  };

  it("lists a real permission and a whole total, however many claims third parties make", async () => {
    const [token, , unheld] = tokens as [Hex, Hex, Hex];
    const [thief, old] = [numberedAddress(0xbadbad), KNOWN[1] as Hex];
    for (const one of tokens) for (const spender of [...KNOWN, ...OUTSIDERS]) await approve(one, spender, 0n);
    await approve(token, thief, UINT256_MAX);
    await approve(unheld, old, 9n);
    const balance = encodeFunctionData({ abi: plainTokenAbi, functionName: "balanceOf", args: [wallet] });
    const held = (await chain.request("eth_call", [{ to: unheld, data: balance }, "latest"])) as Hex;
    const args = [owner, BigInt(held)] as const;
    await send(unheld, encodeFunctionData({ abi: plainTokenAbi, functionName: "transfer", args }));
    const readClaims = async () => {
      const { permissions, summary } = await read(stage.port(scanNode, [token, unheld]));
      const places = permissions.map(({ contract, spender }) => `${contract} ${spender}`);
      return {
        ...{ total: summary.valueAtRiskUsd, partial: summary.partial, count: permissions.length },
        ...{ stolen: places.indexOf(`${token} ${thief}`), old: places.includes(`${unheld} ${old}`) },
        summary,
      };
    };
    const { total } = await readClaims();
    expect(Number(total)).toBeGreaterThan(0);
    await claim(FAKES.slice(0, 1), 6);
    expect(await readClaims()).toMatchObject({ total, partial: false, stolen: 0, old: true, count: 8 });
    // As many as are listed, and more.
    await claim(FAKES, 150);
    const flooded = await readClaims();
    expect(flooded).toMatchObject({ total, partial: false, stolen: 0, old: true });
    expect(flooded.summary.permissionCount).toBeGreaterThan(500);
    expect(flooded.summary.warnings[0]).toMatch(/contracts that nothing vouches for, are counted/);
  });
});
