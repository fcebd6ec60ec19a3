// The paid routes of the portfolio service, in the order in which documents list them.
import { diffRoute } from "./diff.ts";
import { exposureRoute } from "./exposure.ts";
import type { PaidRouteDeclaration } from "./paid-route.ts";
import { portfolioRoute } from "./portfolio.ts";

export const PAID_ROUTES: readonly PaidRouteDeclaration[] = [portfolioRoute, diffRoute, exposureRoute];
