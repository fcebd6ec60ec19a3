// Directories accept the running service: x402scan's own validator, and a facilitator with a Bazaar catalogue.
import {
  checkEndpointSchema,
  checkL2ForOpenAPI,
  checkL4ForOpenAPI,
  discoverOriginSchema,
  GuidanceMode,
  getL3ForOpenAPI,
  getOpenAPI,
  getWarningsForFavicon,
  getWarningsForL2,
  getWarningsForL3,
  getWarningsForL4,
  getWarningsForMppHeader,
  getWarningsForOpenAPI,
  isOpenApiParseFailure,
  scrapeFavicon,
  validatePaymentRequiredDetailed,
} from "@agentcash/discovery";
import type { PaymentRequired } from "@x402/core/types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ChallengeIssuer } from "../../src/payments/mpp/challenges.ts";
import { portfolioRoute } from "../../src/portfolio/http/routes/portfolio.ts";
import { sendBytes } from "../support/http/send-bytes.ts";
import {
  startTestPortfolioWeb,
  TEST_OFFER,
  type TestPortfolioWeb,
} from "../support/http/test-portfolio-web.ts";
import { type BazaarFacilitator, startBazaarFacilitator } from "../support/payments/bazaar-facilitator.ts";
import { testMppKey } from "../support/payments/mpp-client.ts";
import { decodeBase64Header, signPaymentFor } from "../support/payments/paid-client.ts";
import {
  openPayingClient,
  openServiceStage,
  type PortfolioService,
  type ServiceStage,
} from "./service-stage.ts";

describe("the validator of x402scan", () => {
  let web: TestPortfolioWeb;
  beforeAll(async () => {
    // A network that it knows. It accepts a loopback address with its scheme, so nothing is replaced.
    const mpp = new ChallengeIssuer(testMppKey);
    web = await startTestPortfolioWeb({ offer: { ...TEST_OFFER, network: "eip155:8453", mpp } });
  });
  afterAll(() => web?.close());

  async function readOpenApi() {
    const source = (await getOpenAPI(web.url))._unsafeUnwrap();
    if (source === null || isOpenApiParseFailure(source)) throw new Error("the document is not OpenAPI");
    return source;
  }

  it("finds the 402 valid, with input and output schemas and nothing to complain about", async () => {
    const required = decodeBase64Header<PaymentRequired>(
      await fetch(`${web.url}/portfolio`),
      "payment-required",
    );
    const result = validatePaymentRequiredDetailed(required);
    expect(result.issues).toEqual([]);
    expect(result).toMatchObject({
      valid: true,
      version: 2,
      normalized: { hasInputSchema: true, hasOutputSchema: true },
    });
  });

  it("finds the challenge of the Machine Payments Protocol valid", async () => {
    const challenge = (await fetch(`${web.url}/portfolio`)).headers.get("www-authenticate");
    expect(getWarningsForMppHeader(challenge)).toEqual([]);
  });

  it("discovers the origin with its price and guidance", async () => {
    const found = await discoverOriginSchema({ target: web.url, guidance: GuidanceMode.Auto });
    expect(found).toMatchObject({ found: true, guidanceAvailable: true });
    const { endpoints = [], guidance = "" } = found.found ? found : {};
    expect(guidance).toMatch(/PAYMENT-SIGNATURE/);
    const paid = endpoints.filter(({ authMode }) => authMode === "paid");
    expect(paid).toMatchObject([
      { method: "GET", path: "/portfolio", price: "0.01 USD", protocols: ["x402", "mpp"] },
    ]);
    // Every other route says that it is free.
    expect(endpoints.filter(({ authMode }) => authMode === undefined)).toEqual([]);
  });

  it("reads the endpoint by a probe: terms of version 2 and a schema of the query", async () => {
    const checked = await checkEndpointSchema({ url: `${web.url}/portfolio`, probe: true });
    const { advisories = [] } = checked.found ? checked : {};
    const get = advisories.find(({ method }) => method === "GET");
    expect(get).toMatchObject({
      authMode: "paid",
      paymentOptions: [
        { protocol: "x402", version: 2, network: "eip155:8453", amount: "10000" },
        { protocol: "mpp", paymentMethod: "evm", intent: "charge", amount: "10000" },
      ],
    });
    expect(JSON.stringify(get?.inputSchema)).toContain('"address"');
  });

  it("x402scan has no warning about the description, the routes, the guidance or the icon", async () => {
    const openApi = await readOpenApi();
    const warnings = [
      ...getWarningsForOpenAPI(openApi),
      ...getWarningsForL2(checkL2ForOpenAPI(openApi)),
      ...getWarningsForL3(getL3ForOpenAPI(openApi, "/portfolio", "GET")),
      ...getWarningsForL4(checkL4ForOpenAPI(openApi)),
      ...(await getWarningsForFavicon(web.url))._unsafeUnwrap(),
    ];
    expect(warnings).toEqual([]);
    expect(await scrapeFavicon(web.url)).toBe(`${web.url}/favicon.svg`);
  });
});

const WALLET = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";

describe("a facilitator with a Bazaar catalogue", () => {
  let stage: ServiceStage;
  let bazaar: BazaarFacilitator;
  let service: PortfolioService;
  beforeAll(async () => {
    stage = await openServiceStage();
    bazaar = await startBazaarFacilitator(stage.paid);
    service = await stage.serve({ facilitatorUrl: bazaar.url });
  });
  afterAll(async () => {
    await stage?.close();
    await bazaar?.close();
  });

  it("lists the resource after one paid request, with input and output schemas", async () => {
    const client = await openPayingClient(stage);
    expect(bazaar.catalogue.size).toBe(0);
    await client.snapshot(service.url, `address=${WALLET}&chains=base`);
    expect([...bazaar.catalogue.keys()]).toEqual([`${service.url}/portfolio`]);
    const [entry] = bazaar.catalogue.values();
    expect(entry).toMatchObject({
      x402Version: 2,
      method: "GET",
      mimeType: "application/json",
      description: portfolioRoute.description,
      serviceName: "Sextant portfolio service",
      tags: ["wallet", "portfolio", "balances", "defi", "evm"],
      discoveryInfo: { input: { type: "http", method: "GET", queryParams: { address: expect.any(String) } } },
    });
    type Listed = { schema: { properties: Record<string, unknown> } };
    const listed = entry?.extensions?.bazaar as Listed | undefined;
    expect(listed?.schema.properties.input).toMatchObject({
      properties: {
        queryParams: { properties: { address: {}, chains: {}, spam: {} }, required: ["address"] },
      },
    });
    expect(listed?.schema.properties.output).toMatchObject({
      properties: { example: { properties: { summary: {}, tokens: {}, positions: {} } } },
    });
  });

  it("gets our own description and neither the query nor what the client added", async () => {
    const payer = await stage.paid.payer();
    const url = `${service.url}/portfolio?address=${WALLET}&chains=base`;
    const { payload } = await signPaymentFor(url, payer, stage.paid.asset);
    const forged = {
      ...payload,
      resource: { url: "https://evil.example/", description: "Evil." },
      extensions: { bazaar: { info: { input: { type: "http", method: "GET" } }, schema: {} } },
    };
    const header = Buffer.from(JSON.stringify(forged)).toString("base64");
    expect((await fetch(url, { headers: { "payment-signature": header } })).status).toBe(200);
    expect(JSON.stringify(bazaar.received)).not.toMatch(/evil/i);
    for (const { paymentPayload } of bazaar.received) {
      expect(paymentPayload.resource?.url).toBe(`${service.url}/portfolio`);
      expect(JSON.stringify(paymentPayload)).not.toContain(WALLET.slice(2));
    }
  });

  it("sends headers that all fit into 4 KB, as nginx accepts by default", async () => {
    const query = `address=${WALLET}&chains=base,ethereum&spam=exclude&detail=summary`;
    const { host } = new URL(service.url);
    // The longest of our sentences is the one for a payment of version 1.
    for (const more of ["", "x-payment: e30=\r\n"]) {
      const request = `GET /portfolio?${query} HTTP/1.1\r\nhost: ${host}\r\n${more}connection: close\r\n\r\n`;
      const [head = ""] = (await sendBytes(service.url, request)).split("\r\n\r\n");
      expect(head).toMatch(/^HTTP\/1\.1 402 /);
      expect(head.length).toBeLessThan(4_096);
    }
    // The client repeats the terms and the extensions in its payment.
    const { header } = await signPaymentFor(
      `${service.url}/portfolio?${query}`,
      await stage.paid.payer(),
      stage.paid.asset,
    );
    expect(header.length).toBeLessThan(6_000);
  });
});
