// The tools of the portfolio service: one per paid route, sold by the same gate as over HTTP.
import { readVersion } from "../../config/version.ts";
import { describeEndpoint } from "../../http/openapi/route-description.ts";
import { type ClientSender, createMcpEndpoint } from "../../mcp/endpoint.ts";
import { createTool, type Tool } from "../../mcp/tool.ts";
import type { ToolPrice, ToolRoute } from "../../mcp/tool-declaration.ts";
import type { Endpoint } from "../../schema/endpoint.ts";
import { formatRoutePrice } from "../../web/offering.ts";
import { SUPPORTED_CHAINS } from "../query.ts";
import { describePaidEndpoint } from "./endpoint.ts";
import { describePaidRoute, type SoldRoute } from "./offering.ts";
import type { PaidRouteDeclaration } from "./routes/paid-route.ts";
import { WALLET_ROUTES } from "./routes/paid-routes.ts";
import { CALLER_PAYS, PORTFOLIO_INSTRUCTIONS, PORTFOLIO_PROMPTS } from "./tool-guide.ts";

/** Without prices if routes are served without payment, for development. */
export function createPortfolioMcpEndpoint(
  sold: readonly SoldRoute[],
  /** The offers of the sold routes, in the same order. */
  endpoints: readonly Endpoint[],
  { devBypass, sendFor }: { readonly devBypass: boolean; readonly sendFor: ClientSender },
): Endpoint {
  const routes = endpoints.map((endpoint) => describeEndpoint(endpoint));
  return createMcpEndpoint({
    name: "sextant-portfolio",
    version: readVersion(),
    instructions: PORTFOLIO_INSTRUCTIONS,
    tools: sold.map((route) =>
      createPaidTool(route.declaration, routes, devBypass ? null : describePrice(route)),
    ),
    prompts: PORTFOLIO_PROMPTS,
    sendFor,
  });
}

function describePrice(sold: SoldRoute): ToolPrice {
  const route = describePaidRoute(sold);
  const { priceUsd, priceUsdPerChain, priceUsdSummary, priceUsdProof, terms } = route;
  return {
    sentence: `A call costs ${formatRoutePrice(route)}, by x402.`,
    details: CALLER_PAYS,
    terms: {
      ...terms,
      priceUsd,
      ...(priceUsdPerChain !== null && { priceUsdPerChain }),
      ...(priceUsdSummary !== null && { priceUsdSummary }),
      ...(priceUsdProof !== null && { priceUsdProof }),
    },
    isPaidByCaller: true,
  };
}

/**
 * The same tools for a server whose requests another process serves; it may serve fewer chains. That process buys by the
 * client, whose journal keeps no bodies.
 */
export function describePaidTools(price: ToolPrice): readonly Tool[] {
  return WALLET_ROUTES.map((declaration) => {
    const { parameters } = declaration.createQuery(SUPPORTED_CHAINS);
    return createPaidTool(
      declaration,
      [describeEndpoint(describePaidEndpoint(declaration, parameters))],
      price,
    );
  });
}

function createPaidTool(
  { path, body, tool }: PaidRouteDeclaration,
  routes: readonly ToolRoute[],
  price: ToolPrice | null,
): Tool {
  const paid = price === null ? {} : { price };
  return createTool(
    { ...tool, hints: { ...HINTS, ...tool.hints }, routes: `${body ? "POST" : "GET"} ${path}`, ...paid },
    routes,
  );
}

/** Texts about arguments that several paid tools take. */
const HINTS = {
  address: "0x… or a name such as vitalik.eth",
  chains: "such as base,ethereum",
  block: "as of then: chain:number,…",
  at: "as of then: 7d ago, YYYY-MM-DD or YYYY-MM-DDThh:mmZ",
  partial: "allow a result without a chain that fails",
  fields: "only these, such as tokens.chain,…",
};
