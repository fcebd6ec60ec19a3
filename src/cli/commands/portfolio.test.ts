// `sextant portfolio`: configuration errors before anything starts, and the development bypass.
import { once } from "node:events";
import { createServer } from "node:net";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openApiClient } from "../../../tests/support/http/api-client.ts";
import { expectLimitPerForwardedClient } from "../../../tests/support/http/forwarded-clients.ts";
import { waitFor } from "../../../tests/support/payments/paid-client.ts";
import {
  startPortfolioCommand,
  startServiceCommand,
} from "../../../tests/support/process/service-command.ts";
import { createDatabaseEnvironment } from "../../../tests/support/process/sextant-process.ts";
import type { Environment } from "../../config/read-config.ts";
import { Fault } from "../../lib/fault.ts";
import { serveCommand } from "./serve.ts";

const PAY_TO = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const KEY = `0x${"5e".repeat(32)}`;
const CHANNEL_KEY = `0x${"5d".repeat(32)}` as const;
const RANDOM_KEY = "0x2b7e151628aed2a6abf7158809cf4f3c6bc1bee22e409f96e93d7e117393172a";
const CHANNELS = { PAYMENT_CHANNELS: "true", PAYMENT_CHANNEL_KEY: CHANNEL_KEY };
// Nothing listens there: an invalid configuration must fail before any request.
const CLOSED_PORT = "http://127.0.0.1:9";
const DATABASE_URL = "postgres://user:hunter2@127.0.0.1:9/none";

const COMPLETE = {
  DATABASE_URL,
  RPC_URL_8453: CLOSED_PORT,
  PAY_TO,
  PAYMENT_RPC_URL: CLOSED_PORT,
  FACILITATOR_PRIVATE_KEY: KEY,
};

function without(...names: readonly (keyof typeof COMPLETE)[]): Environment {
  return Object.fromEntries(Object.entries(COMPLETE).filter(([name]) => !names.includes(name as never)));
}

describe("an invalid configuration", () => {
  const cases: readonly (readonly [string, Environment, RegExp])[] = [
    ["no payee", without("PAY_TO"), /^PAY_TO must be the address that receives payments/],
    [
      "no node",
      without("RPC_URL_8453"),
      /^The portfolio service needs a node of at least one chain: set RPC_URL_8453 for Base/,
    ],
    [
      "no node of the payment chain",
      without("PAYMENT_RPC_URL"),
      /^PAYMENT_RPC_URL must name at least one node of eip155:84532\.$/,
    ],
    [
      "a wildcard host without a public URL",
      { ...COMPLETE, HOST: "0.0.0.0" },
      /^PORTFOLIO_PUBLIC_URL must be the URL for clients, because HOST=0\.0\.0\.0 is not one\.$/,
    ],
    [
      "no facilitator",
      without("FACILITATOR_PRIVATE_KEY"),
      /^A facilitator must settle payments: set FACILITATOR_URL, or FACILITATOR_PRIVATE_KEY/,
    ],
    [
      "the bypass on a mainnet",
      { ...COMPLETE, X402_DEV_BYPASS: "true", PAYMENT_NETWORK: "eip155:8453" },
      /^X402_DEV_BYPASS gives snapshots away, but payments on eip155:8453 are worth money/,
    ],
    [
      "the bypass on an unknown chain",
      {
        ...COMPLETE,
        ...{ X402_DEV_BYPASS: "true", PAYMENT_NETWORK: "eip155:4242", PAYMENT_ASSET: PAY_TO },
        ...{ PAYMENT_ASSET_NAME: "Coin", PAYMENT_ASSET_VERSION: "1" },
      },
      /^X402_DEV_BYPASS gives snapshots away, but payments on eip155:4242 are worth money/,
    ],
    [
      "the bypass in production",
      { ...COMPLETE, X402_DEV_BYPASS: "true", NODE_ENV: "production" },
      /^X402_DEV_BYPASS gives snapshots away, but NODE_ENV is production/,
    ],
    [
      "Alchemy without a key",
      { ...COMPLETE, PORTFOLIO_PROVIDER: "alchemy" },
      /^PORTFOLIO_PROVIDER=alchemy needs ALCHEMY_API_KEY\.$/,
    ],
    [
      "no token on the payment chain",
      { ...COMPLETE, PAYMENT_NETWORK: "eip155:4242" },
      /^PAYMENT_ASSET must name the token that is paid with on eip155:4242\.$/,
    ],
    [
      "a token without name and version",
      { ...COMPLETE, PAYMENT_ASSET: PAY_TO },
      /^PAYMENT_ASSET needs PAYMENT_ASSET_NAME and PAYMENT_ASSET_VERSION/,
    ],
    ["a malformed address", { ...COMPLETE, PAY_TO: "0x12" }, /^PAY_TO must be an address/],
    [
      "the facilitator's key for channels",
      { ...COMPLETE, ...CHANNELS, FACILITATOR_PRIVATE_KEY: CHANNEL_KEY },
      /^PAYMENT_CHANNEL_KEY must be a key of its own; it is FACILITATOR_PRIVATE_KEY\.$/,
    ],
    [
      "the payee's key for channels",
      { ...COMPLETE, ...CHANNELS, PAY_TO: privateKeyToAccount(CHANNEL_KEY).address },
      /^PAYMENT_CHANNEL_KEY must be a key of its own; it is the key of PAY_TO\.$/,
    ],
    ...["00".repeat(32), "ff".repeat(32)].map((digits): readonly [string, Environment, RegExp] => [
      `a key of channels that no account has, ${digits.slice(0, 2)}`,
      { ...COMPLETE, PAYMENT_CHANNELS: "true", PAYMENT_CHANNEL_KEY: `0x${digits}` },
      /^PAYMENT_CHANNEL_KEY must be a private key: 0x followed by 64 hex digits[^0-9]*$/,
    ]),
    [
      "the facilitator's key for challenges",
      { ...COMPLETE, FACILITATOR_PRIVATE_KEY: RANDOM_KEY, PAYMENT_MPP_KEY: RANDOM_KEY },
      /^PAYMENT_MPP_KEY must be 32 random bytes of its own, such as .*; it is the key of an account\.$/,
    ],
    [
      "a key of challenges that anyone can guess",
      { ...COMPLETE, PAYMENT_MPP_KEY: `0x${"0123456789abcdef".repeat(4)}` },
      /^PAYMENT_MPP_KEY must be 32 random bytes of its own, such as .*; it is not random\.$/,
    ],
    [
      "challenges without TLS",
      { ...COMPLETE, PAYMENT_MPP_KEY: RANDOM_KEY, PORTFOLIO_PUBLIC_URL: "http://sold.example" },
      /^PAYMENT_MPP_KEY needs a PORTFOLIO_PUBLIC_URL that begins with https:\/\/\.$/,
    ],
    [
      "a short key of challenges",
      { ...COMPLETE, PAYMENT_MPP_KEY: "secret" },
      /^PAYMENT_MPP_KEY must be a private key: 0x followed by 64 hex digits[^0-9]*$/,
    ],
    ["a malformed key", { ...COMPLETE, FACILITATOR_PRIVATE_KEY: "0x5e" }, /^FACILITATOR_PRIVATE_KEY must/],
    ["a price of zero", { ...COMPLETE, PORTFOLIO_PRICE_USD: "0" }, /^PORTFOLIO_PRICE_USD must be/],
    [
      "a price below the smallest unit",
      { ...COMPLETE, PORTFOLIO_PRICE_USD: "0.0000001" },
      /^PORTFOLIO_PRICE_USD /,
    ],
  ];

  it.each(cases)("rejects a configuration in one sentence: %s", async (_name, environment, sentence) => {
    const error = await startPortfolioCommand(environment).ended.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(Fault);
    const { code, message } = error as Fault;
    expect([code, message]).toEqual(["CONFIG_INVALID", expect.stringMatching(sentence)]);
    expect(message.split("\n").length).toBe(1);
    expect(message).toMatch(/\.$/);
    expect(message).not.toMatch(/hunter2|5e5e|2b7e|0123/);
  });

  it("accepts a complete configuration, which then fails at its database", async () => {
    await expect(
      startPortfolioCommand({ ...COMPLETE, PAYMENT_MPP_KEY: RANDOM_KEY }).ended,
    ).rejects.toMatchObject({
      code: "DATABASE_UNREACHABLE",
    });
  });
});

describe("with X402_DEV_BYPASS", () => {
  let chain: LocalChain;
  let database: Awaited<ReturnType<typeof createDatabaseEnvironment>>;
  let running: ReturnType<typeof startPortfolioCommand>;
  let url: string;

  const listening = async (service: ReturnType<typeof startPortfolioCommand>): Promise<string> => {
    const pattern = /"event":"portfolio_listening","url":"(http:[^"]+)"/;
    await waitFor(() => pattern.test(service.logged()));
    return pattern.exec(service.logged())?.[1] ?? "";
  };
  const environment = (rpcUrl: string) => ({
    ...database.environment,
    SEXTANT_METRICS_PORT: "shared",
    ...{ PORTFOLIO_PORT: "0", PAY_TO, X402_DEV_BYPASS: "true", RPC_URL_8453: rpcUrl },
  });

  beforeAll(async () => {
    chain = await startLocalChain({ chainId: 8453 });
    database = await createDatabaseEnvironment();
    running = startPortfolioCommand(environment(chain.rpcUrl));
    url = await listening(running);
  });

  afterAll(async () => {
    running?.stop.abort();
    expect(await running?.ended).toBe(0);
    await database?.drop();
    await chain?.stop();
  });

  it("reports the bypass at /health", async () => {
    expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ ok: true, x402DevBypass: true });
    expect((await fetch(`${url}/ready`)).status).toBe(200);
  });

  it("serves snapshots without payment on the chains with a node", async () => {
    const { address } = chain.accounts.payer;
    const client = await openApiClient(url);
    const response = await client.call(`/portfolio?address=${address}`);
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({
      chains: ["base"],
      tokens: [{ chain: "base", contract: null, balance: "1000000", spam: false }],
      provider: "rpc",
    });
    expect((await fetch(`${url}/portfolio?address=${address}&chains=ethereum`)).status).toBe(400);
  });

  it("counts its calls to nodes", async () => {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    // Once for a node, however slow it is; reads of a wallet are sent again if the node is.
    expect(metrics).toMatch(/sextant_rpc_calls_total\{.*method="eth_chainId",outcome="ok"\} 1\n/);
    expect(metrics).toMatch(/sextant_rpc_calls_total\{.*method="eth_getBalance",outcome="ok"\} [12]\n/);
  });

  it("counts clients behind a proxy and has metrics per service if sextant serve runs several", async () => {
    const port = await findFreePair();
    const service = startServiceCommand(serveCommand, {
      ...environment(chain.rpcUrl),
      ...{ SEXTANT_METRICS_PORT: String(port), SEXTANT_LOG_LEVEL: "info" },
      ...{ API_PORT: "0", INDEXER_PORT: "0", RPC_URL: CLOSED_PORT },
      ...{ SEXTANT_TRUST_PROXY: "1", SEXTANT_REQUESTS_PER_MINUTE: "2" },
    });
    await Promise.race([
      waitFor(
        () =>
          /"event":"portfolio_listening"/.test(service.logged()) &&
          /"event":"api_listening"/.test(service.logged()),
      ),
      service.ended,
    ]);
    const readMetrics = async (at: number) => (await fetch(`http://127.0.0.1:${at}/metrics`)).text();
    const [api, portfolio] = await Promise.all([readMetrics(port), readMetrics(port + 1)]);
    expect(api).toContain("sextant_index_reads_total");
    expect(portfolio).toContain("sextant_payments_total");
    for (const name of ["api", "portfolio"]) {
      const listening = new RegExp(`"event":"${name}_listening","url":"(http:[^"]+)"`).exec(service.logged());
      await expectLimitPerForwardedClient(`${listening?.[1]}/openapi.json`, 2);
    }
    service.stop.abort();
    expect(await service.ended).toBe(0);
  });

  it("says before sextant serve starts that there is no port for the metrics of the second service", async () => {
    const settings = { ...environment(CLOSED_PORT), SEXTANT_METRICS_PORT: "65535", RPC_URL: CLOSED_PORT };
    const { ended, logged } = startServiceCommand(serveCommand, settings);
    await expect(ended).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message:
        "SEXTANT_METRICS_PORT must be at most 65534: the metrics of the portfolio service are on the port after it.",
    });
    expect(logged()).toBe("");
  });
});

/** Two free ports in a row, below those that the system gives away. */
async function findFreePair(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const servers = [createServer(), createServer()];
    const taken = await Promise.all(
      servers.map((server, index) => {
        server.listen(port + index, "127.0.0.1");
        return once(server, "listening").then(
          () => false,
          () => true,
        );
      }),
    );
    for (const server of servers) server.close();
    if (!taken.includes(true)) return port;
  }
}
