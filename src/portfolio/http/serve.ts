// The portfolio service put together: chains, prices and positions behind the gate, and everything that describes it.
import type { FastifyInstance } from "fastify";
import { Counter, type Registry } from "prom-client";
import { chainById, chainBySlug } from "../../chain/chains/chains.ts";
import { chainIdOf } from "../../lib/caip2.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { Gate } from "../../payments/paywall/gate.ts";
import type { Offer } from "../../payments/paywall/offer.ts";
import type { PaymentOutcome } from "../../payments/paywall/paid-request.ts";
import { payPage, type ShownChain } from "../../web/pay-page.ts";
import { shareSnapshots } from "../coalesce-snapshots.ts";
import { portfolioQuery } from "../query.ts";
import { createSnapshotTaker } from "../snapshot.ts";
import { readMetadata } from "../tokens/metadata.ts";
import type { ChainPort, HoldingsProvider, PositionReader, PriceSource } from "../types.ts";
import { portfolioEndpoint } from "./endpoint.ts";
import { portfolioOffering } from "./offering.ts";
import { addPortfolioFaces } from "./routes.ts";

/** Either sells, or (for development) gives away. */
export type PortfolioGate = Pick<Gate, "challenge" | "serve"> & { readonly offer: Offer } & Partial<
    Pick<Gate, "sweep">
  >;

export type PortfolioParts = {
  /** In the order in which they are listed. */
  readonly chains: readonly ChainPort[];
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
export function servePortfolio(app: FastifyInstance, parts: PortfolioParts): { close(): Promise<void> } {
  const { gate, log } = parts;
  const chains = new Map(parts.chains.map((port) => [port.chain.slug, port]));
  const taker = createSnapshotTaker({ ...parts, chains, readMetadata, clock: systemClock });
  const offering = portfolioOffering(gate.offer, Date.now());
  const [route] = offering.routes;
  if (!route) throw new Error("the portfolio service sells nothing");
  const query = portfolioQuery([...chains.keys()]);
  const defaultChains = query.read({}).slugs;
  const shown = parts.chains.map(({ chain }) => shownChain(chain.chainId, chain.name, chain.slug));
  const paidOn = shownChain(chainIdOf(gate.offer.network), gate.offer.network, "");
  const endpoint = portfolioEndpoint({
    route,
    query,
    gate,
    free: parts.devBypass,
    snapshots: shareSnapshots(taker, { chains, clock: systemClock }),
    page: () => payPage({ offering, route, chains: shown, defaultChains, paidOn }),
  });
  addPortfolioFaces(app, { offering, endpoint, devBypass: parts.devBypass, registry: parts.registry });
  return gate.sweep ? startSweeping(gate.sweep, log) : { close: async () => undefined };
}

function startSweeping(sweep: Gate["sweep"], log: Log): { close(): Promise<void> } {
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

function shownChain(chainId: number, name: string, slug: string): ShownChain {
  const facts = slug === "" ? chainById(chainId) : chainBySlug(slug);
  return {
    slug,
    name: slug === "" ? (facts?.name ?? name) : name,
    explorerTxUrl: facts?.explorerTxUrl ?? null,
  };
}

/** Payments by how they ended, for whoever watches the service. */
export function countPayments(registry: Registry): (outcome: PaymentOutcome) => void {
  const counter = new Counter({
    name: "sextant_payments_total",
    help: "Requests to paid routes by outcome.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  return (outcome) => counter.inc({ outcome });
}
