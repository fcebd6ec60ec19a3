// `proof=1`, bought with a real x402 client: what the responses prove, what that costs, and that nothing else changes.
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { numberedAddress } from "@sextant/contracts/test/hostile-token-code";
import { namedAccounts } from "@sextant/local-chain/accounts";
import type { PaymentRequired } from "@x402/core/types";
import { encodeFunctionData, type Hex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { PortfolioDiff } from "../../src/schema/portfolio/diff.ts";
import type { Exposure } from "../../src/schema/portfolio/exposure.ts";
import type { ProofChain, ResponseProofs } from "../../src/schema/portfolio/proofs.ts";
import type { PortfolioSnapshot } from "../../src/schema/portfolio/snapshot.ts";
import { decodeBase64Header } from "../support/payments/paid-client.ts";
import { readProvenNumbers } from "../support/portfolio/check-claims.ts";
import {
  callNode,
  listedTokenOf,
  openPayingClient,
  openServiceStage,
  type PortfolioService,
  type ServiceStage,
} from "./service-stage.ts";

let stage: ServiceStage;
let service: PortfolioService;
const wallet = namedAccounts().payer.address.toLowerCase() as Hex;

beforeAll(async () => {
  stage = await openServiceStage();
  service = await stage.serve({ environment: { PROOF_PRICE_USD: "0.004" } });
});
afterEach(() => {
  stage.base.plan = () => null;
});
afterAll(() => stage.close());

async function buy<T>(path: string, { url } = service): Promise<T & { readonly proofs?: ResponseProofs }> {
  const { fetch } = await openPayingClient(stage);
  const response = await fetch(`${url}${path}`);
  const body = await response.json();
  expect(response.status, JSON.stringify(body)).toBe(200);
  return body as T & { readonly proofs?: ResponseProofs };
}

const chainsOf = ({ proofs }: { readonly proofs?: ResponseProofs }): readonly ProofChain[] =>
  proofs?.chains ?? [];
const pathsOf = (chains: readonly ProofChain[], kind: string) =>
  chains.flatMap(({ claims }) => claims.filter((claim) => claim.kind === kind).map(({ path }) => path));

/** The value at a JSON pointer. */
function pointTo(body: unknown, path: string): unknown {
  return path
    .slice(1)
    .split("/")
    .reduce<unknown>((part, key) => (part as Record<string, unknown>)[key], body);
}

const PROOFS = "eth_getProof is not available here";
const rejectProofs = () => {
  stage.base.plan = (calls) =>
    calls.some(({ method }) => method === "eth_getProof")
      ? { kind: "error", code: -32_601, message: PROOFS }
      : null;
};

describe("a snapshot", () => {
  it("proves native coins, tokens and the code of the account on every chain", async () => {
    const snapshot = await buy<PortfolioSnapshot>(`/portfolio?address=${wallet}&proof=1`);
    const chains = chainsOf(snapshot);
    expect(chains.map(({ chain, block, reason }) => ({ chain, hash: block?.hash, reason }))).toEqual(
      snapshot.blocks.map(({ chain, hash }) => ({ chain, hash, reason: null })),
    );
    const listed = [
      ...snapshot.accounts.flatMap((_, index) => [`/accounts/${index}/kind`, `/accounts/${index}/nonce`]),
      ...snapshot.gas.map((_, index) => `/gas/${index}/rawBalance`),
      ...snapshot.tokens.map((_, index) => `/tokens/${index}/rawBalance`),
    ];
    expect(chains.flatMap(({ claims }) => claims.map(({ path }) => path)).sort()).toEqual(listed.sort());
    expect(pathsOf(chains, "none")).toEqual([]);
    for (const chain of chains) {
      for (const [path, word] of readProvenNumbers(chain)) {
        if (path.endsWith("rawBalance")) expect(pointTo(snapshot, path)).toBe(`${word}`);
      }
    }
    const { coverage } = snapshot.proofs ?? {};
    const total = snapshot.tokens.reduce((sum, { valueUsd }) => sum + Number(valueUsd ?? 0), 0);
    expect(Number(coverage?.provenUsd)).toBeCloseTo(total, 6);
    expect(Number(coverage?.share)).toBeGreaterThan(0);
    expect(Number(coverage?.share)).toBeLessThan(1);
  });

  it("proves a past block, and only what it lists", async () => {
    const number = Number(await callNode<Hex>(stage.base, "eth_blockNumber", []));
    const snapshot = await buy<PortfolioSnapshot>(
      `/portfolio?address=${wallet}&block=base:${number - 1}&proof=1&min_usd=100`,
    );
    const [only] = chainsOf(snapshot);
    expect(only?.block?.number).toBe(`${number - 1}`);
    expect(pathsOf(chainsOf(snapshot), "erc20")).toHaveLength(
      snapshot.tokens.filter((one) => one.contract).length,
    );
    if (only !== undefined) readProvenNumbers(only);
  });

  it("is sold in full when a node rejects proofs, and says so", async () => {
    // A service remembers which nodes offer no proofs.
    const other = await stage.serve();
    rejectProofs();
    const snapshot = await buy<PortfolioSnapshot>(`/portfolio?address=${wallet}&chains=base&proof=1`, other);
    expect(snapshot.tokens.length).toBeGreaterThan(0);
    expect(chainsOf(snapshot)).toMatchObject([
      { chain: "base", reason: "no_proofs", header: null, block: null },
    ]);
    expect(pathsOf(chainsOf(snapshot), "none").length).toBe(snapshot.tokens.length + 3);
    expect(snapshot.accounts.map(({ nonce }) => nonce)).toEqual([null]);
    expect(snapshot.proofs?.coverage).toMatchObject({ provenUsd: "0", share: "0" });
  });

  it("has no proofs unless they are asked for, and asks no node for any", async () => {
    const methods: string[] = [];
    stage.base.plan = (calls) => {
      methods.push(...calls.map(({ method }) => method));
      return null;
    };
    // Requests for the wallet of the other tests may share what was read for them.
    const other = numberedAddress(0x9e57);
    const plain = await buy<PortfolioSnapshot>(`/portfolio?address=${other}&chains=base`);
    const zero = await buy<PortfolioSnapshot>(`/portfolio?address=${other}&chains=base&proof=0`);
    expect([plain, zero].map((each) => "proofs" in each)).toEqual([false, false]);
    expect(methods).not.toContain("eth_getProof");
    expect(methods.length).toBeGreaterThan(0);
  });
});

describe("an exposure", () => {
  it("proves allowances of tokens and in Permit2, with the balances at risk", async () => {
    const exposure = await buy<Exposure>(`/exposure?address=${wallet}&proof=1`);
    const chains = chainsOf(exposure);
    const unprovable = exposure.permissions.flatMap(({ kind }, index) =>
      kind.endsWith("-allowance") ? [] : [`/permissions/${index}/kind`],
    );
    expect(pathsOf(chains, "none")).toEqual(unprovable);
    expect(pathsOf(chains, "allowance")).toHaveLength(4);
    expect(pathsOf(chains, "permit2")).toHaveLength(2);
    for (const chain of chains) {
      for (const [path, word] of readProvenNumbers(chain)) {
        const isPermit2 = pathsOf([chain], "permit2").includes(path);
        expect(pointTo(exposure, path)).toBe(`${isPermit2 ? BigInt.asUintN(160, word) : word}`);
      }
    }
    expect(chains.map(({ reason }) => reason)).toEqual(chains.map(() => null));
    expect(exposure.summary.chains.map(({ blockNumber }) => `${blockNumber}`)).toEqual(
      chains.map(({ block }) => block?.number),
    );
  });
});

describe("a difference", () => {
  it("proves both sides, also that the wallet had nothing", async () => {
    const usdc = listedTokenOf(stage.base, "USDC");
    const other = numberedAddress(0xd1ff);
    const data = encodeFunctionData({ abi: usdCoinAbi, functionName: "transfer", args: [other, 1_000_000n] });
    await callNode(stage.base, "eth_sendTransaction", [{ from: wallet, to: usdc, data, gas: "0x2dc6c0" }]);
    const head = Number(await callNode<Hex>(stage.base, "eth_blockNumber", []));
    const range = `from=base:${head - 1}&to=base:${head}`;
    const diff = await buy<PortfolioDiff>(`/portfolio/diff?address=${other}&${range}&proof=1`);
    const chains = chainsOf(diff);
    expect(diff.tokens).toMatchObject([{ contract: usdc, before: null, after: { rawBalance: "1000000" } }]);
    expect(
      chains.map(({ side, block, claims }) => [side, block?.number, claims.map((each) => each.path)]),
    ).toEqual([
      ["from", `${head - 1}`, ["/tokens/0/before"]],
      ["to", `${head}`, ["/tokens/0/after/rawBalance"]],
    ]);
    expect(chains.map((each) => [...readProvenNumbers(each).values()])).toEqual([[0n], [1_000_000n]]);
    expect(diff.proofs?.coverage.share).toBe("1");
  });
});

describe("the price", () => {
  it("has its addition in the terms, which say when it is charged, and is the usual one without proofs", async () => {
    const terms = async (path: string) =>
      decodeBase64Header<PaymentRequired>(await fetch(`${service.url}${path}`), "payment-required");
    const paths = ["/portfolio?", "/exposure?", "/portfolio/diff?from=base:1&"];
    for (const path of paths) {
      const plain = await terms(`${path}address=${wallet}`);
      const proven = await terms(`${path}address=${wallet}&proof=1`);
      expect([plain, proven].map(({ accepts }) => accepts[0]?.amount)).toEqual(["10000", "14000"]);
      expect(proven.error).toContain("$0.004 of it is for proof=1");
      expect(plain.error).not.toContain("proof");
    }
    const { account, fetch: pay } = await openPayingClient(stage);
    expect((await pay(`${service.url}/portfolio?address=${wallet}&chains=base&proof=1`)).status).toBe(200);
    const transfers = await stage.paid.transfersFrom(account.address);
    expect(transfers.map(({ args }) => args.value)).toEqual([14_000n]);
  });

  it.each(["detail=summary", "detail=tokens", "fields=tokens"])(
    "is not named for a part of the response: %s",
    async (part) => {
      const response = await fetch(`${service.url}/portfolio?address=${wallet}&proof=1&${part}`);
      expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([
        400,
        `proof=1 needs the whole response: leave out ${part.split("=")[0]}.`,
      ]);
    },
  );
});
