// The paid routes of the portfolio service, in the order in which documents list them.
import { diffRoute } from "./diff.ts";
import { exposureRoute } from "./exposure.ts";
import type { PaidRouteDeclaration } from "./paid-route.ts";
import { portfolioRoute } from "./portfolio.ts";
import { simulateRoute } from "./simulate.ts";

/** Routes that read a wallet, by a query in the URL. */
export const WALLET_ROUTES: readonly PaidRouteDeclaration[] = [portfolioRoute, diffRoute, exposureRoute];
export const PAID_ROUTES: readonly PaidRouteDeclaration[] = [...WALLET_ROUTES, simulateRoute];

/** The same routes with other examples of their parameters, by name: for chains whose blocks are not the real ones. */
export function showExamples(examples: Readonly<Record<string, string>>): readonly PaidRouteDeclaration[] {
  return PAID_ROUTES.map((route) => ({
    ...route,
    exampleQuery: Object.fromEntries(
      Object.entries(route.exampleQuery).map(([name, value]) => [name, examples[name] ?? value]),
    ),
    createQuery(served) {
      const query = route.createQuery(served);
      const parameters = query.parameters.map((one) => ({
        ...one,
        example: examples[one.name] ?? one.example,
      }));
      return { ...query, parameters };
    },
  }));
}
