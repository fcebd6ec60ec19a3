// Responses bought with `proof=1` from the real service, checked by the client's verifier, which shares no code with the prover.
import { requireProven, verify } from "@sextant/client/verify/verify";
import { namedAccounts } from "@sextant/local-chain/accounts";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Exposure } from "../../src/schema/portfolio/exposure.ts";
import type { PortfolioSnapshot } from "../../src/schema/portfolio/snapshot.ts";
import {
  callNode,
  openPayingClient,
  openServiceStage,
  type PortfolioService,
  type ServiceStage,
} from "./service-stage.ts";

const PERMIT2 = "0x000000000022d473030f116ddee9f6b43ac78ba3";
let stage: ServiceStage;
let service: PortfolioService;
const wallet = namedAccounts().payer.address.toLowerCase();
beforeAll(async () => {
  stage = await openServiceStage();
  service = await stage.serve({ environment: { PROOF_PRICE_USD: "0.004" } });
});
afterAll(() => stage.close());

it.each(["/portfolio?address=", "/exposure?address="])(
  "finds nothing wrong in %s with proofs, and proves it by nodes",
  async (path) => {
    const { fetch: pay } = await openPayingClient(stage);
    const url = `${service.url}${path}${wallet}&chains=base&proof=1`;
    const response = await pay(url);
    const body = await response.text();
    expect(response.status, body).toBe(200);
    const result = await verify({ body, request: { method: "GET", url } });
    expect(result.rows.filter(({ status }) => status === "wrong")).toEqual([]);
    const urls = [stage.base.node.url, stage.base.node.url.replace("127.0.0.1", "localhost")];
    const online = await verify(body, { nodes: urls });
    expect(online.rows.filter(({ status }) => status === "wrong")).toEqual([]);
    expect(
      online.rows.some(({ path, status }) => /^\/(tokens|permissions)/.test(path) && status === "proven"),
    ).toBe(true);
  },
);

const UNAPPROVED = `0x${"0a".repeat(20)}`;

it("states and proves what a spender may take of held tokens, also that it is nothing", async () => {
  const { fetch: pay } = await openPayingClient(stage);
  const url = `${service.url}/exposure?address=${wallet}&chains=base,ethereum&proof=1&spenders=${UNAPPROVED},${PERMIT2}`;
  const body = await (await pay(url)).text();
  const { allowances = [], permissions } = JSON.parse(body) as Exposure;
  const shown = (spender: string, kind: string) =>
    allowances.filter((each) => each.spender === spender && each.kind === kind);
  expect(shown(UNAPPROVED, "erc20-allowance").length).toBeGreaterThan(2);
  expect(shown(UNAPPROVED, "permit2-allowance")).toHaveLength(shown(UNAPPROVED, "erc20-allowance").length);
  expect(
    allowances.filter(({ spender }) => spender === UNAPPROVED).map(({ rawAllowance }) => rawAllowance),
  ).toEqual(Array(2 * shown(UNAPPROVED, "erc20-allowance").length).fill("0"));
  const live = permissions.filter(({ kind, spender }) => kind === "erc20-allowance" && spender === PERMIT2);
  expect(live.length).toBeGreaterThan(0);
  for (const { chain, contract, rawAllowance } of live) {
    const same = allowances.filter((each) => each.chain === chain && each.contract === contract);
    expect(same.find(({ spender }) => spender === PERMIT2)?.rawAllowance).toBe(rawAllowance);
  }
  const nodes = [stage.base, stage.ethereum].flatMap(({ node }) => [
    node.url,
    node.url.replace("127.0.0.1", "localhost"),
  ]);
  const result = await verify({ body, request: { method: "GET", url } }, { nodes });
  expect(result.rows.filter(({ status }) => status === "wrong")).toEqual([]);
  for (const index of allowances.keys()) requireProven(result, `/allowances/${index}/rawAllowance`);
});

it("proves the nonce of the account", async () => {
  const { fetch: pay } = await openPayingClient(stage);
  const body = await (await pay(`${service.url}/portfolio?address=${wallet}&chains=base&proof=1`)).text();
  const sent = await callNode<string>(stage.base, "eth_getTransactionCount", [wallet, "latest"]);
  const { accounts } = JSON.parse(body) as PortfolioSnapshot;
  expect(accounts.map(({ nonce }) => nonce)).toEqual([BigInt(sent).toString()]);
  const result = await verify(body, { nodes: [stage.base.node.url], nodesMin: 1 });
  requireProven(result, "/accounts/0/nonce");
});

it.each([
  ["spenders=0x12", "at most 10 addresses"],
  ["spenders=", "at most 10 addresses"],
  [
    `spenders=${Array.from({ length: 11 }, (_, i) => `0x${"00".repeat(19)}${10 + i}`).join(",")}`,
    "at most 10",
  ],
  [`spenders=${UNAPPROVED},`, "at most 10 addresses"],
  ["spenders=0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed", "wrong checksum"],
  [`spenders=${UNAPPROVED}&detail=summary`, "leave out detail"],
])("rejects %s before anything is paid", async (query, message) => {
  const response = await fetch(`${service.url}/exposure?address=${wallet}&${query}`);
  expect(response.status).toBe(400);
  expect(((await response.json()) as { error: string }).error).toContain(message);
});

it("asks the same price and the same purchase for spenders in another order", async () => {
  const [first, second] = [`0x${"AB".repeat(20)}`, UNAPPROVED];
  const terms = await Promise.all(
    [`${first},${second}`, `${second}, ${first.toLowerCase()},${second}`].map(async (spenders) => {
      const url = `${service.url}/exposure?address=${wallet}&spenders=${encodeURIComponent(spenders)}`;
      const response = await fetch(url);
      return (await response.json()) as { resource?: { url?: string } };
    }),
  );
  expect(terms[0]).toEqual(terms[1]);
});
