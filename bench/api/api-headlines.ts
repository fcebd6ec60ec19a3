// The headlines about the API: the route in the middle and the last one, hot and cold, and what must not cost more.
import {
  aimAtLeast,
  formatGrouped,
  formatPercent,
  formatPerSecond,
  type Headline,
} from "../harness/measurement.ts";
import { FIRST_PAGE } from "./api-routes.ts";
import type { Cell, RouteReport } from "./load-child.ts";

// Two equally fast things may seem a tenth apart on a busy machine.
const SAME_PERCENTS = 90;

export const requestRate = ({ requests, ms }: Cell): number => formatPerSecond(requests, ms);

/** One route's speed and its ceiling's. */
type Against = { readonly title: string; readonly rate: number; readonly ceiling: number };

export function summarizeApi(routes: readonly RouteReport[], deepPage: string): Headline[] {
  const hot = routes.map(({ title, hot, rawHot }) => ({
    title,
    rate: requestRate(hot),
    ceiling: requestRate(rawHot),
  }));
  const colder = (ceilingOf: (route: RouteReport) => Cell | null) =>
    routes.flatMap((route): Against[] => {
      const ceiling = ceilingOf(route);
      // Identical requests mostly wait for one database response: not comparable with a driver.
      if (!route.cold || !ceiling || route.shared) return [];
      return [{ title: route.title, rate: requestRate(route.cold), ceiling: requestRate(ceiling) }];
    });
  const cold = (title: string) => coldRate(routes, title);
  const over = (what: string, top: string, bottom: string, aim: number): Headline => ({
    what,
    value: `${formatGrouped(cold(top))} req/s`,
    ceiling: `${formatGrouped(cold(bottom))} ${bottom}`,
    ratio: formatPercent(cold(top), cold(bottom)),
    aim: aimAtLeast(cold(top), cold(bottom), aim),
  });
  return [
    ...middleAndLast("hot", hot, "node:http", 70),
    ...middleAndLast(
      "cold",
      colder(({ driver }) => driver),
      "the driver",
      60,
    ),
    ...middleAndLast(
      "cold",
      colder(({ pipelined }) => pipelined),
      "the driver, pipelined",
      null,
    ),
    over("deep page by cursor, cold, all ask the same", deepPage, FIRST_PAGE, SAME_PERCENTS),
    over("analytics, cold, all ask the same", "/analytics/commerce", "/agents/:agentId", 100),
  ];
}

function middleAndLast(
  temperature: string,
  routes: readonly Against[],
  ceilingName: string,
  aim: number | null,
): Headline[] {
  const sorted = [...routes].sort((one, other) => one.rate / one.ceiling - other.rate / other.ceiling);
  const line = (place: string, route: Against | undefined): Headline[] =>
    route
      ? [
          {
            what: `${temperature}, ${place} of ${routes.length} routes: ${route.title}`,
            value: `${formatGrouped(route.rate)} req/s`,
            ceiling: `${formatGrouped(route.ceiling)} ${ceilingName}`,
            ratio: formatPercent(route.rate, route.ceiling),
            aim: aim === null ? null : aimAtLeast(route.rate, route.ceiling, aim),
          },
        ]
      : [];
  return [...line("median", sorted[Math.floor((sorted.length - 1) / 2)]), ...line("lowest", sorted[0])];
}

function coldRate(routes: readonly RouteReport[], title: string): number {
  const cold = routes.find((each) => each.title === title)?.cold;
  if (!cold) throw new Error(`${title} was not measured cold`);
  return requestRate(cold);
}
