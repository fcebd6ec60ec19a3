// The same payment at two portfolio processes over one ledger at the same moment: one run, one charge, and two responses.
// The fast test of the same rules, with both sides in one process, is tests/payments/flow-paths.test.ts.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import { startLocalChain } from "@sextant/local-chain/local-chain";
import { deployFundedMarket } from "@sextant/simulator/fund-market";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import type { PrivateKeyAccount } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openResponseProxy, type ResponseProxy } from "../../support/nodes/response-proxy.ts";
import { createDatabaseEnvironment } from "../../support/process/sextant-process.ts";
import { type PaymentChain, startPaymentChain } from "./payment-chain.ts";
import { type RestartedProcess, startRestartedProcess } from "./restarted-process.ts";

const BASE = 8453;
const NETWORK = "eip155:31337";
const LISTENS = /"event":"portfolio_listening","url":"(http:\/\/127\.0\.0\.1:\d+)"/;

/** A service that settles with a key of its own, and the node that only it reads. */
type Portfolio = { readonly service: RestartedProcess; readonly node: ResponseProxy };

const closing: (() => Promise<unknown>)[] = [];
let paid: PaymentChain;
let portfolios: readonly [Portfolio, Portfolio];
let wallets: readonly [string, string];

beforeAll(async () => {
  const [market, payments, ledger] = await Promise.all([
    startLocalChain({ chainId: BASE, code: LOCAL_GENESIS_CODE }),
    startPaymentChain(2),
    createDatabaseEnvironment(),
  ]);
  paid = payments;
  closing.push(
    ledger.drop,
    () => paid.chain.stop(),
    () => market.stop(),
  );
  await deployFundedMarket(market, "base");
  wallets = [market.accounts.payer.address, market.accounts.agent.address];
  const cwd = await mkdtemp(join(tmpdir(), "sextant-portfolios-"));
  closing.push(() => rm(cwd, { recursive: true, force: true }));
  const [one = "", other = ""] = await paid.fundKeys(2);
  const start = async (key: string): Promise<Portfolio> => {
    const node = await openResponseProxy(market.rpcUrl, {});
    closing.push(() => node.close());
    const environment = {
      ...ledger.environment,
      PAY_TO: paid.payTo,
      PAYMENT_NETWORK: NETWORK,
      PAYMENT_RPC_URL: paid.chain.rpcUrl,
      PAYMENT_ASSET: paid.asset,
      PAYMENT_ASSET_NAME: "USD Coin",
      PAYMENT_ASSET_VERSION: "2",
      FACILITATOR_PRIVATE_KEY: key,
      PORTFOLIO_PORT: "0",
      PORTFOLIO_PUBLIC_URL: "https://portfolio.example",
      [`RPC_URL_${BASE}`]: node.url,
    };
    const service = await startRestartedProcess({ command: "portfolio", environment, cwd, listens: LISTENS });
    closing.push(() => service.stop());
    return { service, node };
  };
  portfolios = await Promise.all([start(one), start(other)]);
}, 240_000);
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

const urlOf = ({ service }: Portfolio) => service.url ?? "";
const readsOf = ({ node }: Portfolio) => node.methods.filter((method) => method === "eth_call").length;

/** The header with which the stock client would pay the first service. */
async function sign(payer: PrivateKeyAccount, path: string): Promise<string> {
  const client = x402Client.fromConfig({
    schemes: [{ network: NETWORK, client: new ExactEvmScheme(payer) }],
    spendControls: { allowedAssets: [{ network: NETWORK, asset: paid.asset, maxAmountPerPayment: "10000" }] },
  });
  let header: string | null = null;
  const keep = async (request: Request) => {
    header = request.headers.get("payment-signature");
    return header === null ? fetch(request) : new Response();
  };
  await wrapFetchWithPayment(keep as typeof fetch, client)(urlOf(portfolios[0]) + path);
  if (header === null) throw new Error("the client did not sign");
  return header;
}

async function request(portfolio: Portfolio, path: string, header: string) {
  const response = await fetch(urlOf(portfolio) + path, { headers: { "payment-signature": header } });
  const receipt = response.headers.get("payment-response");
  const { transaction = null } = receipt ? JSON.parse(Buffer.from(receipt, "base64").toString()) : {};
  return { status: response.status, body: await response.text(), transaction };
}

it("one of two portfolios runs a payment, and both give the same response", async () => {
  const [payer] = paid.payers as [PrivateKeyAccount];
  const path = `/portfolio?address=${wallets[0]}&chains=base`;
  const header = await sign(payer, path);
  const before = portfolios.map(readsOf);
  const [first, second] = await Promise.all(portfolios.map((each) => request(each, path, header)));
  expect(first).toMatchObject({ status: 200, transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
  expect(second).toEqual(first);
  expect(await paid.transfers()).toMatchObject([{ transaction: first?.transaction }]);
  const ran = portfolios.map((each, index) => readsOf(each) > (before[index] ?? 0));
  expect(ran.sort()).toEqual([false, true]);
}, 120_000);

it("sells one of two requests with the same payment, and responds 409 to the other", async () => {
  const payer = paid.payers[1] as PrivateKeyAccount;
  const paths = wallets.map((wallet) => `/portfolio?address=${wallet}&chains=base`) as [string, string];
  const header = await sign(payer, paths[0]);
  const responses = await Promise.all([
    request(portfolios[0], paths[0], header),
    request(portfolios[1], paths[1], header),
  ]);
  const sold = responses.filter(({ status }) => status === 200);
  const [other] = responses.filter(({ status }) => status !== 200);
  expect(sold).toHaveLength(1);
  expect(other).toMatchObject({ status: 409, body: expect.stringContaining("belongs to another request") });
  const transfers = await paid.transfers();
  expect(transfers.filter((each) => each.payer === payer.address.toLowerCase())).toHaveLength(1);
}, 120_000);
