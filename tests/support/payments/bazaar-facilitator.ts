// A third party's facilitator with a Bazaar catalogue, built from the x402 library alone and listening on loopback.
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { x402Facilitator } from "@x402/core/facilitator";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import { BAZAAR, type DiscoveredResource, extractDiscoveryInfo } from "@x402/extensions/bazaar";
import { createWalletClient, http, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { TEST_NETWORK } from "./paid-client.ts";
import type { PaidStage } from "./paid-stage.ts";

type FacilitatorRequest = {
  readonly paymentPayload: PaymentPayload;
  readonly paymentRequirements: PaymentRequirements;
};

export type BazaarFacilitator = {
  readonly url: string;
  /** The settled payments by resource. */
  readonly catalogue: ReadonlyMap<string, DiscoveredResource>;
  /** Every request body, as received. */
  readonly received: readonly FacilitatorRequest[];
  close(): Promise<void>;
};

export async function startBazaarFacilitator({ chain }: PaidStage): Promise<BazaarFacilitator> {
  const catalogue = new Map<string, DiscoveredResource>();
  const received: FacilitatorRequest[] = [];
  const account = privateKeyToAccount(chain.accounts.facilitator.privateKey);
  const wallet = createWalletClient({ account, transport: http(chain.rpcUrl), pollingInterval: 20 }).extend(
    publicActions,
  );
  const signer = toFacilitatorEvmSigner({
    ...wallet,
    address: account.address,
  } as unknown as Parameters<typeof toFacilitatorEvmSigner>[0]);
  const facilitator = new x402Facilitator()
    .register(TEST_NETWORK, new ExactEvmScheme(signer))
    .registerExtension(BAZAAR)
    .onAfterSettle(async ({ paymentPayload, requirements }) => {
      const found = extractDiscoveryInfo(paymentPayload, requirements);
      if (found !== null) catalogue.set(found.resourceUrl, found);
    });

  async function respond(request: IncomingMessage): Promise<unknown> {
    if (request.url === "/supported") return facilitator.getSupported();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as FacilitatorRequest;
    received.push(body);
    const { paymentPayload, paymentRequirements } = body;
    return request.url === "/verify"
      ? facilitator.verify(paymentPayload, paymentRequirements)
      : facilitator.settle(paymentPayload, paymentRequirements);
  }

  const server = createServer((request, response) => {
    respond(request)
      .then((body) => response.setHeader("content-type", "application/json").end(JSON.stringify(body)))
      .catch((error) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    catalogue,
    received,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
