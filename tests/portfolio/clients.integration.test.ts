// Clients that others wrote pay for a snapshot: the stock ones of today and of the first 2.x version, and third parties'.
// They are several packages, a compiler and a process over three chains. In main, tests/portfolio/conformance.test.ts fails
// too: "HEAD costs the same as GET and buys the same response" and "the program of /llms-full.txt is the checked example".

import { wrap } from "@faremeter/fetch";
import { createPaymentHandler } from "@faremeter/payment-evm/exact";
import { wrapAxiosWithPaymentFromConfig } from "@x402/axios";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import axios from "axios";
import { Receipt } from "mppx";
import { Mppx } from "mppx/client";
import { validate } from "mppx/discovery";
import { evm } from "mppx/evm/client";
import type { Hex, PrivateKeyAccount } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ExactEvmScheme as ExactEvmSchemeOf20 } from "x402-evm-2.0/exact/client";
import { wrapFetchWithPaymentFromConfig } from "x402-fetch-2.0";
import { TEST_MPP_KEY } from "../support/payments/mpp-client.ts";
import {
  createPayingFetch,
  fetchWithPayment,
  signPaymentFor,
  TEST_NETWORK,
} from "../support/payments/paid-client.ts";
import { createProgramFolder } from "../support/process/program-folder.ts";
import { startProgram } from "../support/process/sextant-process.ts";
import { findTypeErrors } from "../support/process/type-check.ts";
import { openServiceStage, type PortfolioService, type ServiceStage } from "./service-stage.ts";

const CHAIN_ID = 31_337;
const PRICE = 10_000n;
const WALLET = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";

type Paid = { readonly status: number; readonly body: unknown; readonly receipt: string | null };
/** Pays as a reader of the client's documentation would: an account in, a response out. */
type PayingClient = (url: string, account: PrivateKeyAccount, asset: Hex) => Promise<Paid>;

async function read(response: Response): Promise<Paid> {
  const { status, headers } = response;
  return { status, body: await response.json(), receipt: headers.get("payment-response") };
}

function createMppFetch(account: PrivateKeyAccount, asset: Hex) {
  // It knows the EIP-712 domains of well-known tokens only.
  const authorization = { name: "USD Coin", version: "2" };
  const method = evm.charge({ account, networks: [CHAIN_ID], currencies: [asset], authorization });
  return Mppx.create({ methods: [method], polyfill: false }).fetch;
}

const CLIENTS: Readonly<Record<string, PayingClient>> = {
  "@x402/fetch 2.27": async (url, account, asset) => read(await createPayingFetch(account, asset)(url)),

  "@x402/fetch 2.0": async (url, account) => {
    const client = new ExactEvmSchemeOf20(account);
    const pay = wrapFetchWithPaymentFromConfig(fetch, { schemes: [{ network: TEST_NETWORK, client }] });
    // This version of the client needs an init.
    return read(await pay(url, { method: "GET" }));
  },

  "@x402/axios 2.11": async (url, account) => {
    const client = new ExactEvmScheme(account);
    const pay = wrapAxiosWithPaymentFromConfig(axios.create(), {
      schemes: [{ network: TEST_NETWORK, client }],
    } as Parameters<typeof wrapAxiosWithPaymentFromConfig>[1]);
    const { status, data, headers } = await pay.get(url);
    return { status, body: data, receipt: String(headers["payment-response"]) };
  },

  "@faremeter/fetch 0.22": async (url, account, asset) => {
    const wallet = { chain: { id: CHAIN_ID, name: "local" }, address: account.address, account };
    const handler = createPaymentHandler(wallet as unknown as Parameters<typeof createPaymentHandler>[0], {
      asset: { address: asset, contractName: "USD Coin" },
    });
    return read(await wrap(fetch, { handlers: [handler] })(url));
  },

  "mppx 0.11": async (url, account, asset) => read(await createMppFetch(account, asset)(url)),
};

describe("a client that pays", () => {
  let stage: ServiceStage;
  let service: PortfolioService;
  let mppService: PortfolioService;
  beforeAll(async () => {
    stage = await openServiceStage();
    service = await stage.serve();
    mppService = await stage.serve({ environment: { PAYMENT_MPP_KEY: TEST_MPP_KEY } });
  });
  afterAll(() => stage?.close());

  it.each(Object.entries(CLIENTS))("%s gets the snapshot and is charged once", async (_name, pay) => {
    const { paid } = stage;
    const account = await paid.payer();
    const before = await paid.balance(account.address);
    const url = `${service.url}/portfolio?address=${WALLET}&chains=base`;
    const { status, body, receipt } = await pay(url, account, paid.asset);
    expect(status).toBe(200);
    expect(body).toMatchObject({ address: WALLET, chains: ["base"] });
    expect(before - (await paid.balance(account.address))).toBe(PRICE);
    const [transfer, ...others] = await paid.transfersFrom(account.address);
    expect(others).toEqual([]);
    expect(JSON.parse(Buffer.from(receipt ?? "", "base64").toString())).toMatchObject({
      success: true,
      network: TEST_NETWORK,
      transaction: transfer?.transactionHash,
    });
  });

  it("mppx pays by the Machine Payments Protocol where it is offered, and the payee has the price", async () => {
    const { paid } = stage;
    const account = await paid.payer();
    const before = await paid.balance(paid.payTo);
    const pay = createMppFetch(account, paid.asset);
    const response = await pay(`${mppService.url}/portfolio?address=${WALLET}&chains=base`);
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { address: WALLET, chains: ["base"] },
    ]);
    const [transfer, ...others] = await paid.transfersFrom(account.address);
    expect(Receipt.fromResponse(response)).toMatchObject({
      method: "evm",
      status: "success",
      reference: transfer?.transactionHash,
    });
    expect(others).toEqual([]);
    expect((await paid.balance(paid.payTo)) - before).toBe(PRICE);
  });

  it.each(Object.entries(CLIENTS).filter(([name]) => !name.startsWith("mppx")))(
    "%s pays by x402 where the Machine Payments Protocol is offered too",
    async (_name, pay) => {
      const { paid } = stage;
      const account = await paid.payer();
      const url = `${mppService.url}/portfolio?address=${WALLET}&chains=base`;
      expect((await pay(url, account, paid.asset)).status).toBe(200);
      expect(await paid.transfersFrom(account.address)).toHaveLength(1);
    },
  );

  it("mppx finds the OpenAPI document with its offers valid", async () => {
    const document = (await (await fetch(`${mppService.url}/openapi.json`)).json()) as {
      paths: Record<string, { get: Record<"x-payment-info", object> }>;
    };
    expect(validate(document)).toEqual([]);
    expect(document.paths["/portfolio"]?.get["x-payment-info"]).toMatchObject({
      offers: [{ method: "evm", intent: "charge", amount: String(PRICE), currency: stage.paid.asset }],
    });
  });

  it("the program of /llms-full.txt compiles strictly and pays", async () => {
    const { paid } = stage;
    const privateKey = generatePrivateKey();
    const { address } = privateKeyToAccount(privateKey);
    await paid.mint(address, PRICE);
    const text = await (await fetch(`${service.url}/llms-full.txt`)).text();
    const program = /```ts\n([\s\S]*?)```/.exec(text)?.[1] ?? "";
    const types = /^curl -O (\S+)$/m.exec(text)?.[1] ?? "";
    const folder = await createProgramFolder({
      "buy-snapshot.ts": program,
      [types.split("/").at(-1) ?? ""]: await (await fetch(types)).text(),
    });
    expect(findTypeErrors(folder)).toBeNull();
    const { ended } = startProgram("buy-snapshot.ts", {
      cwd: folder,
      environment: { PAYER_PRIVATE_KEY: privateKey },
    });
    const { code, out, err } = await ended;
    const [transfer, ...others] = await paid.transfersFrom(address);
    expect([code, err, others]).toEqual([0, "", []]);
    expect(out).toMatch(/^worth \$[\d,.]+, paid in 0x/);
    expect(out).toContain(`\nnext: open ${service.url}/docs for the other calls\n`);
    expect(out).toContain(transfer?.transactionHash);
  });

  it("pays by HEAD, and gets the body by GET with the same payment", async () => {
    const { paid } = stage;
    const account = await paid.payer();
    const url = `${service.url}/portfolio?address=${WALLET}&chains=base`;
    const { header } = await signPaymentFor(url, account, paid.asset);
    const head = await fetchWithPayment(url, header, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const get = await fetchWithPayment(url, header);
    expect(get.status).toBe(200);
    expect(get.headers.get("payment-response")).toBe(head.headers.get("payment-response"));
    expect(await get.json()).toMatchObject({ address: WALLET });
    expect((await paid.transfersFrom(account.address)).length).toBe(1);
  });
});
