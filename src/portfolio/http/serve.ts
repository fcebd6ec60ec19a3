// The portfolio service put together: chains, prices and positions behind the gate, and everything that describes it.
import type { FastifyInstance } from "fastify";
import { Counter, type Registry } from "prom-client";
import { findChainById, findChainBySlug } from "../../chain/chains/chains.ts";
import { chainIdOfNetwork } from "../../lib/caip2.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { Gate } from "../../payments/paywall/gate.ts";
import type { PaymentOffer } from "../../payments/paywall/offer.ts";
import type { PaymentOutcome } from "../../payments/paywall/paid-request.ts";
import { type PayPageChain, renderPayPage } from "../../web/pay-page.ts";
import { coalesceSnapshots } from "../coalesce-snapshots.ts";
import { createPortfolioParameters } from "../query.ts";
import { createSnapshotReader } from "../snapshot.ts";
import type { HoldingsProvider, PortfolioChain, PositionReader, PriceSource } from "../types.ts";
import { createPortfolioEndpoint } from "./endpoint.ts";
import { createPortfolioOffering } from "./offering.ts";
import { addPortfolioRoutes } from "./routes.ts";

/** Either sells, or (for development) gives away. */
export type PortfolioGate = Pick<Gate, "challenge" | "serve"> & { readonly offer: PaymentOffer } & Partial<
    Pick<Gate, "reconcile">
  >;

export type PortfolioServiceOptions = {
  /** In the order in which they are listed. */
  readonly chains: readonly PortfolioChain[];
  readonly provider: HoldingsProvider;
  readonly priceSources: readonly (readonly PriceSource[])[];
  readonly positionReaders: readonly PositionReader[];
  readonly gate: PortfolioGate;
  readonly devBypass: boolean;
  readonly registry: Registry;
  readonly log: Log;
};

// A few blocks of most chains: whoever comes back for a lost answer finds it, and the ledger is never long behind.
const SWEEP_MS = 5_000;

/** Adds the routes; `close` ends what goes on beside them. */
export function servePortfolio(
  app: FastifyInstance,
  parts: PortfolioServiceOptions,
): { close(): Promise<void> } {
  const { gate, log } = parts;
  const chains = new Map(parts.chains.map((port) => [port.chain.slug, port]));
  const taker = createSnapshotReader({
    ...parts,
    chains,
    clock: systemClock,
  });
  const offering = createPortfolioOffering(gate.offer, Date.now());
  const [route] = offering.routes;
  if (!route) throw new Error("the portfolio service sells nothing");
  const query = createPortfolioParameters([...chains.keys()]);
  const defaultChains = query.parse({}).slugs;
  const shown = parts.chains.map(({ chain }) => shownChain(chain.chainId, chain.name, chain.slug));
  const paidOn = shownChain(chainIdOfNetwork(gate.offer.network), gate.offer.network, "");
  const endpoint = createPortfolioEndpoint({
    route,
    query,
    gate,
    free: parts.devBypass,
    snapshots: coalesceSnapshots(taker, { chains, clock: systemClock }),
    page: () => renderPayPage({ offering, route, chains: shown, defaultChains, paymentChain: paidOn }),
  });
  addPortfolioRoutes(app, { offering, endpoint, devBypass: parts.devBypass, registry: parts.registry });
  return gate.reconcile ? startSweeping(gate.reconcile, log) : { close: async () => undefined };
}

function startSweeping(sweep: Gate["reconcile"], log: Log): { close(): Promise<void> } {
  const leaving = new AbortController();
  const sweeping = (async () => {
    while (!leaving.signal.aborted) {
      await sweep(leaving.signal).catch((err) => log.warn({ err }, "The payments could not be swept"));
      await systemClock.sleep(SWEEP_MS, leaving.signal).catch(() => undefined);
    }
  })();
  return {
    async close() {
      leaving.abort();
      await sweeping;
    },
  };
}

function shownChain(chainId: number, name: string, slug: string): PayPageChain {
  const facts = slug === "" ? findChainById(chainId) : findChainBySlug(slug);
  return {
    slug,
    name: slug === "" ? (facts?.name ?? name) : name,
    explorerTxUrl: facts?.explorerTxUrl ?? null,
  };
}

/** Payments by how they ended, for whoever watches the service. */
export function countPaymentOutcomes(registry: Registry): (outcome: PaymentOutcome) => void {
  const counter = new Counter({
    name: "sextant_payments_total",
    help: "Requests to paid routes by outcome.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  return (outcome) => counter.inc({ outcome });
}
