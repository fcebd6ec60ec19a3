// A portfolio service whose nodes and database fail, and checks of what its payers were charged.
import { numberedAddress } from "@sextant/contracts/test/hostile-token-code";
import type { PrivateKeyAccount } from "viem";
import { expect } from "vitest";
import type { PortfolioSnapshot } from "../../src/schema/portfolio/snapshot.ts";
import { openBreakableConnection } from "../support/database/breakable-connection.ts";
import { createMigratedDatabase } from "../support/database/test-database.ts";
import { openTestConnection } from "../support/index/empty-index.ts";
import type { NodeFaultInjection, NodeRpcCall } from "../support/nodes/node-faults.ts";
import { fetchWithPayment, signPaymentFor, waitFor } from "../support/payments/paid-client.ts";
import { TEST_PRICE } from "../support/payments/paid-stage.ts";
import {
  openPayingClient,
  openServiceStage,
  type PortfolioService,
  type ServiceStage,
} from "./service-stage.ts";

export type FaultPlan = (calls: readonly NodeRpcCall[]) => NodeFaultInjection | null;

export const hasMethod = (calls: readonly NodeRpcCall[], ...methods: readonly string[]) =>
  calls.some(({ method }) => methods.includes(method));
/** The balance scan; all earlier requests succeed. */
export const isScan = ({ method, params }: NodeRpcCall) => method === "eth_call" && params.length > 2;

export class FailingService {
  readonly stage: ServiceStage;
  readonly service: PortfolioService;
  #wallets = 0xfa11;

  private constructor(stage: ServiceStage, service: PortfolioService) {
    this.stage = stage;
    this.service = service;
  }

  static async open(): Promise<FailingService> {
    const stage = await openServiceStage();
    return new FailingService(stage, await stage.serve());
  }

  /** Makes its nodes honest again. */
  mend(): void {
    this.stage.base.plan = () => null;
    this.stage.ethereum.plan = () => null;
  }

  close(): Promise<void> {
    return this.stage.close();
  }

  /** A URL with a new wallet, so that no cached snapshot serves it. */
  newRequest(): string {
    this.#wallets += 1;
    return `${this.service.url}/portfolio?address=${numberedAddress(this.#wallets)}`;
  }

  /** A URL for a wallet with tokens and positions; each test uses another order of chains, so that none is cached. */
  payerRequest(chains: string): string {
    return `${this.service.url}/portfolio?address=${this.stage.paid.chain.accounts.payer.address}&chains=${chains}`;
  }

  async buySnapshot(url: string): Promise<PortfolioSnapshot> {
    const { fetch } = await openPayingClient(this.stage);
    const response = await fetch(url);
    expect(response.status).toBe(200);
    return (await response.json()) as PortfolioSnapshot;
  }

  async expectUncharged({ address }: PrivateKeyAccount): Promise<void> {
    expect(await this.stage.paid.balance(address)).toBe(1_000_000n);
    expect(await this.stage.paid.transfersFrom(address)).toEqual([]);
  }

  async expectChargedOnce({ address }: PrivateKeyAccount): Promise<void> {
    expect(await this.stage.paid.balance(address)).toBe(1_000_000n - TEST_PRICE);
    expect((await this.stage.paid.transfersFrom(address)).length).toBe(1);
  }

  /** 500 and no charge while the node of one chain fails; the same signature works afterwards. */
  async expectNodeFailureFree(plan: FaultPlan): Promise<void> {
    const { stage } = this;
    const payer = await stage.paid.payer();
    const url = this.newRequest();
    const { header } = await signPaymentFor(url, payer, stage.paid.asset);
    stage.ethereum.plan = plan;
    const failed = await fetchWithPayment(url, header);
    expect([failed.status, failed.headers.get("x-error-code")]).toEqual([500, "PROVIDER_FAILED"]);
    expect(await failed.json()).toEqual({
      error: "The balances on Ethereum (local) could not be read in full.",
    });
    expect(failed.headers.get("payment-response")).toBeNull();
    await this.expectUncharged(payer);

    stage.ethereum.plan = () => null;
    const responses = [await fetchWithPayment(url, header), await fetchWithPayment(url, header)];
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    const [first, again] = await Promise.all(responses.map((response) => response.text()));
    expect(again).toBe(first);
    await this.expectChargedOnce(payer);
  }

  /** 503 and no charge while the database is away; the service recovers by itself. */
  async expectDatabaseFailureFree(damage: "cut" | "silence"): Promise<void> {
    const { stage } = this;
    const testDatabase = await createMigratedDatabase();
    const connection = await openBreakableConnection(testDatabase.connection);
    const database = await openTestConnection(connection.connection);
    const { url: origin, close } = await stage.serve({ database, requestMsMax: 1_500 });
    const payer = await stage.paid.payer();
    const url = `${origin}/portfolio?address=${numberedAddress(0xdb)}`;
    const { header } = await signPaymentFor(url, payer, stage.paid.asset);

    connection[damage]();
    const failed = await fetchWithPayment(url, header);
    expect(failed.status).toBe(503);
    expect(failed.headers.get("x-error-code")).toMatch(/^DATABASE_|^PAYMENT_PENDING$/);
    const body = (await failed.json()) as { error: string };
    expect(Object.keys(body)).toEqual(["error"]);
    expect(body.error).not.toMatch(/127\.0\.0\.1|postgres:|DATABASE_URL/);
    expect((await fetch(`${origin}/health`)).status).toBe(200);
    expect((await fetch(url)).status).toBe(402);
    await this.expectUncharged(payer);

    connection.mend();
    await waitFor(async () => (await fetchWithPayment(url, header)).status === 200);
    await this.expectChargedOnce(payer);
    await close();
    await database.close();
    await connection.close();
    await testDatabase.drop();
  }
}
